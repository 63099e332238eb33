#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "guard.hpp"
#include "keys.hpp"
#include "made.hpp"
#include "python.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::python {

/// A sketch of Python that no AnyFilter holds, with any scheme of rows.
class Sketch : public ZeroedStorage {
 public:
  explicit Sketch(AnySketch sketch)
      : sketch_(std::make_unique<AnySketch>(std::move(sketch))), guard_(std::make_unique<Guard>()) {}

  /// Calls use(the sketch, as its own type) during which no other thread changes it.
  template <class Use>
  NotOfPython auto read(std::size_t num_keys, Use use) const {
    const Held held(*guard_, Access::read, num_keys);
    return std::visit([&](const auto& own) { return use(own); }, std::as_const(*sketch_));
  }
  template <class Use>
  NotOfPython auto write(std::size_t num_keys, Use use) {
    const Held held(*guard_, Access::write, num_keys);
    return std::visit([&](auto& own) { return use(own); }, *sketch_);
  }

  AnySketch copy() const {
    const Held held(*guard_, Access::read, Held::long_batch);
    return *sketch_;
  }
  void merge(const Sketch& other);
  bool equals(const Sketch& other) const;

  /// For what never changes.
  const AnySketch& peek() const { return *sketch_; }
  KeyHasher hasher() const;

 private:
  Made<AnySketch> sketch_;
  Made<Guard> guard_;
};

/// The object of Python for a sketch: a tally.TopKeys, tally.SpaceSaving or tally.CountMinWindow.
py::object wrapped(AnySketch sketch);

// For whole.hpp.
py::object copied(const Sketch& sketch);
py::bytes bytes_of_file(const Sketch& sketch);
void save_to(const Sketch& sketch, const std::string& path, Overwrite overwrite);

/// What all of them have: merging, copies, files.
void define_whole_sketch(py::handle cls);

/// The class of Python of the key counts' keys: bytes, str or int.
enum class KeyType : std::uint8_t { bytes, str, integer };
KeyType key_type_from(py::handle type, const char* field = "as_type");
/// Throws ValueError for bytes that are no UTF-8, or not 8 bytes.
py::object key_count_of(const KeyCount& count, KeyType type);

}  // namespace tally::python

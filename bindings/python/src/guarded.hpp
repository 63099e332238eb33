#pragma once

#include <memory>
#include <utility>

#include "guard.hpp"
#include "keys.hpp"
#include "made.hpp"
#include "python.hpp"

namespace tally::python {

/// A structure of one type, and the hasher of its keys.
template <class Own>
class Guarded : public ZeroedStorage {
 public:
  Guarded(Own own, const KeyHasher& hasher)
      : own_(std::make_unique<Own>(std::move(own))), guard_(std::make_unique<Guard>()), hasher_(hasher) {}

  template <class Use>
  NotOfPython auto read(std::size_t num_keys, Use use) const {
    const Held held(*guard_, Access::read, num_keys);
    return use(std::as_const(*own_));
  }
  template <class Use>
  NotOfPython auto write(std::size_t num_keys, Use use) {
    const Held held(*guard_, Access::write, num_keys);
    return use(*own_);
  }
  friend py::object copied(const Guarded& own) { return py::cast(own.copy()); }
  Guarded copy() const {
    return {read(Held::long_batch, [](const Own& own) { return own; }), hasher_};
  }
  const KeyHasher& hasher() const noexcept { return hasher_; }

 private:
  Made<Own> own_;
  Made<Guard> guard_;
  KeyHasher hasher_;
};

}  // namespace tally::python

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "guard.hpp"
#include "keys.hpp"
#include "made.hpp"
#include "python.hpp"
#include "tally/any_filter.hpp"
#include "tally/serialization.hpp"

namespace tally::python {

/// A filter or Count-Min sketch of Python: one of its own, or one in a mapped file, which is read only.
class Filter : public ZeroedStorage {
 public:
  explicit Filter(AnyFilter filter) : core_(std::make_shared<Core>(std::move(filter))) {}
  explicit Filter(MappedFilter filter) : core_(std::make_shared<Core>(std::move(filter))) {}

  /// Calls use(the filter) during which no other thread changes it. Throws ValueError after close().
  template <class Use>
  NotOfPython auto read(std::size_t num_keys, Use use) const {
    const std::shared_ptr<Core> core = open_core();
    const Held held(core->guard, Access::read, num_keys);
    return use(core->filter());
  }

  /// The same, while a structure that is made from the filter, and has this guard, is changed.
  template <class Use>
  NotOfPython auto read_into(Guard& made, Use use) const {
    const std::shared_ptr<Core> core = open_core();
    const HeldBoth held(made, Access::write, core->guard);
    return use(core->filter());
  }

  /// `read` alone. Throws ValueError for a mapped filter.
  template <class Use>
  NotOfPython auto write(std::size_t num_keys, Use use) {
    const std::shared_ptr<Core> core = open_core();
    if (core->mapped) throw_read_only();
    const Held held(core->guard, Access::write, num_keys);
    return use(*core->own);
  }

  /// The same with another filter, which is only read; with a copy if it is this one.
  template <class Use>
  NotOfPython auto read_with(const Filter& other, Use use) const {
    const std::shared_ptr<Core> core = open_core();
    const std::shared_ptr<Core> theirs = other.open_core();
    if (core == theirs) {
      const Held held(core->guard, Access::read, Held::long_batch);
      return use(core->filter(), core->filter());
    }
    const HeldBoth held(core->guard, Access::read, theirs->guard);
    return use(core->filter(), theirs->filter());
  }
  template <class Use>
  NotOfPython auto write_with(const Filter& other, Use use) {
    const std::shared_ptr<Core> core = open_core();
    const std::shared_ptr<Core> theirs = other.open_core();
    if (core->mapped) throw_read_only();
    if (core == theirs) {
      const Held held(core->guard, Access::write, Held::long_batch);
      const AnyFilter copy = *core->own;
      return use(*core->own, copy);
    }
    const HeldBoth held(core->guard, Access::write, theirs->guard);
    return use(*core->own, theirs->filter());
  }

  /// For what does not change while others use the filter: its kind and hasher.
  const AnyFilter& peek() const { return open_core()->filter(); }
  /// A copy, because code of Python may close the filter while a key is hashed.
  KeyHasher hasher() const { return peek().hasher(); }
  bool is_mapped() const { return open_core()->mapped.has_value(); }
  bool is_closed() const noexcept { return core_ == nullptr && is_made_; }
  /// Gives up the memory, or the mapped file, once no other call uses it.
  void close() noexcept { core_ = nullptr; }

 private:
  struct Core {
    explicit Core(AnyFilter filter) : own(std::move(filter)) {}
    explicit Core(MappedFilter filter) : mapped(std::move(filter)) {}
    const AnyFilter& filter() const { return own ? *own : mapped->filter(); }

    std::optional<AnyFilter> own;
    std::optional<MappedFilter> mapped;
    Guard guard;
  };

  const std::shared_ptr<Core>& open_core() const {
    if (core_ == nullptr && is_made_) throw py::value_error("the filter is closed; open its file again");
    if (core_ == nullptr) throw_not_initialised();
    return core_;
  }
  [[noreturn]] static void throw_read_only() {
    throw py::value_error("the filter is in a mapped file, which is read only; change its copy()");
  }

  std::shared_ptr<Core> core_;
  bool is_made_ = true;  // false in the zeros of an object that no constructor has made
};

/// The object of Python for a filter: a tally.BloomFilter, ...
py::object wrapped(AnyFilter filter);
py::object wrapped(MappedFilter filter);

// For whole.hpp.
py::object copied(const Filter& filter);
py::bytes bytes_of_file(const Filter& filter);
void save_to(const Filter& filter, const std::string& path, Overwrite overwrite);

}  // namespace tally::python

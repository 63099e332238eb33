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
  Guarded copy() const {
    return {read(Held::long_batch, [](const Own& own) { return own; }), hasher_};
  }
  const KeyHasher& hasher() const noexcept { return hasher_; }

 private:
  Made<Own> own_;
  Made<Guard> guard_;
  KeyHasher hasher_;
};

/// What a slot of a type runs: returns -1, with the exception set, if `call` throws.
template <class Call>
int in_slot(Call call) noexcept {
  try {
    return call();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return -1;
}

}  // namespace tally::python

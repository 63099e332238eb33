#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "python.hpp"

namespace tally::python {

/// Base of the classes of Python whose contents are in a Made. `Class.__new__(Class)` gives an object that no constructor
/// has made, and pybind11 lends it memory when a method is called: zeros, so that its Made is empty.
struct ZeroedStorage {
  static void* operator new(std::size_t num_bytes) {
    void* memory = ::operator new(num_bytes);
    std::memset(memory, 0, num_bytes);
    return memory;
  }
  static void operator delete(void* memory) noexcept { ::operator delete(memory); }
};

[[noreturn]] inline void throw_not_initialised() {
  throw py::type_error("the object is not initialised; call __init__ first");
}

/// A pointer to contents that a constructor has made. Throws TypeError where there are none.
template <class T>
class Made {
 public:
  Made() = default;
  Made(std::unique_ptr<T> own) : own_(std::move(own)) {}

  T& operator*() const {
    if (own_ == nullptr) throw_not_initialised();
    return *own_;
  }
  T* operator->() const { return &**this; }
  bool is_empty() const noexcept { return own_ == nullptr; }

 private:
  std::unique_ptr<T> own_;
};

}  // namespace tally::python

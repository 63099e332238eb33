#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <span>
#include <type_traits>

#include "python.hpp"

namespace tally::python {

/// A new array with these numbers. Not by pybind11's constructor, where numpy gives up the interpreter's lock to copy them
/// (guard.hpp says what would happen in a daemon thread).
template <class Number, std::size_t extent>
py::array_t<std::remove_const_t<Number>> array_of(std::span<Number, extent> numbers) {
  py::array_t<std::remove_const_t<Number>> array(static_cast<py::ssize_t>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), array.mutable_data());
  return array;
}

}  // namespace tally::python

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "python.hpp"

// Numbers and options from Python. The errors name the field, the value, the range and the fix.

namespace tally::python {

/// A bool of Python or of numpy, which are no numbers here, though Python takes them for 0 and 1.
bool is_bool(py::handle value);

/// Whole numbers that a field accepts, including both ends.
struct WholeRange {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// An int, or what has __index__, such as a numpy integer; not a bool. Throws TypeError for another type, ValueError for a
/// number out of range.
std::uint64_t whole_number(py::handle value, const char* field, WholeRange range = {});

/// An int or a float, also of numpy; not a bool. Throws TypeError for another type, ValueError for NaN.
double real_number(py::handle value, const char* field);

/// Throws TypeError unless it is a bool.
bool truth(py::handle value, const char* field);

/// Throws TypeError unless it is a str.
std::string text(py::handle value, const char* field);

/// The value of a Python argument for a C++ parameter of this type.
template <class T>
struct Argument;

template <>
struct Argument<std::uint64_t> {
  static std::uint64_t of(py::handle value, const char* field) { return whole_number(value, field); }
};
template <>
struct Argument<std::uint32_t> {
  static std::uint32_t of(py::handle value, const char* field) {
    return static_cast<std::uint32_t>(
        whole_number(value, field, {0, std::numeric_limits<std::uint32_t>::max()}));
  }
};
template <>
struct Argument<double> {
  static double of(py::handle value, const char* field) { return real_number(value, field); }
};
template <>
struct Argument<bool> {
  static bool of(py::handle value, const char* field) { return truth(value, field); }
};
template <>
struct Argument<std::string> {
  static std::string of(py::handle value, const char* field) { return text(value, field); }
};
template <class T>
struct Argument<std::optional<T>> {
  static std::optional<T> of(py::handle value, const char* field) {
    if (value.is_none()) return std::nullopt;
    return Argument<T>::of(value, field);
  }
};

template <class T>
T argument(py::handle value, const char* field) {
  return Argument<T>::of(value, field);
}

/// Throws ValueError: "FIELD is VALUE; must be RULE".
[[noreturn]] void throw_value_error(const std::string& field, py::handle value, const std::string& rule);
/// Throws TypeError: "FIELD is of type TYPE; must be RULE".
[[noreturn]] void throw_type_error(const std::string& field, py::handle value, const std::string& rule);
/// The same, with the exception that is set now as its cause.
[[noreturn]] void throw_type_error_from(const std::string& field, py::handle value, const std::string& rule);

}  // namespace tally::python

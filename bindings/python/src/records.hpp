#pragma once

#include <cstdint>
#include <optional>

#include "guard.hpp"
#include "python.hpp"

// The dataclasses and enumerations of tally/_records.py, which the C++ side makes.

namespace tally::python {

/// Imports tally._records. Called once, when the module is imported.
void load_records();

/// The class or function of tally._records with this name.
py::object in_records(const char* name);

/// A new object of the class with this name and these fields.
inline py::object record_of(const char* name, const py::dict& fields) {
  return call_python(in_records(name), py::tuple(), fields);
}
/// The same: record("BloomShape", "num_bits"_a = 8, ...).
template <class... Fields>
py::object record(const char* name, Fields&&... fields) {
  return record_of(name, py::dict(std::forward<Fields>(fields)...));
}
/// What the function or constructor with this name returns for these arguments.
template <class... Arguments>
py::object call_in_records(const char* name, Arguments&&... arguments) {
  return call_python(in_records(name), py::make_tuple(std::forward<Arguments>(arguments)...));
}

/// make(*value), or None.
template <class Value, class Make>
py::object optional_of(const std::optional<Value>& value, Make make) {
  return value ? make(*value) : py::object(py::none());
}

/// The enumerations whose members the C++ side returns, in the order of their numbers.
enum class EnumClass : std::uint8_t {
  insert_result,
  insert_outcome,
  remove_result,
  threshold_state,
  apply_result
};

/// The member of the enumeration with this number.
py::object member(EnumClass enumeration, std::uint8_t value);

template <class Enum>
py::object member(EnumClass enumeration, Enum value) {
  return member(enumeration, static_cast<std::uint8_t>(value));
}

}  // namespace tally::python

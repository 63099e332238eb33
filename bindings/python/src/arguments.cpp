#include "arguments.hpp"

#include <cmath>

namespace tally::python {
namespace {

/// repr(value), shortened: a value may be of any size.
std::string shown(py::handle value) {
  const py::object text = py::reinterpret_steal<py::object>(PyObject_Repr(value.ptr()));
  if (!text) {
    // Python writes no integer of more than 4300 digits.
    if (!PyLong_Check(value.ptr()) || !PyErr_ExceptionMatches(PyExc_ValueError))
      throw py::error_already_set();
    PyErr_Clear();
    return "an integer of " + std::string(py::str(value.attr("bit_length")())) + " bits";
  }
  constexpr Py_ssize_t most = 60;
  const bool is_short = PyUnicode_GET_LENGTH(text.ptr()) <= most;
  const py::object start = py::reinterpret_steal<py::object>(PyUnicode_Substring(text.ptr(), 0, most));
  if (!start) throw py::error_already_set();
  const py::object bytes =
      py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(start.ptr(), "utf-8", "backslashreplace"));
  if (!bytes) throw py::error_already_set();
  return std::string(py::reinterpret_borrow<py::bytes>(bytes)) + (is_short ? "" : "...");
}

std::string type_text(const std::string& field, py::handle value, const std::string& rule) {
  return field + " is of type " + std::string(Py_TYPE(value.ptr())->tp_name) + "; must be " + rule;
}

}  // namespace

void throw_value_error(const std::string& field, py::handle value, const std::string& rule) {
  throw py::value_error(field + " is " + shown(value) + "; must be " + rule);
}

void throw_type_error(const std::string& field, py::handle value, const std::string& rule) {
  throw py::type_error(type_text(field, value, rule));
}

void throw_type_error_from(const std::string& field, py::handle value, const std::string& rule) {
  py::raise_from(PyExc_TypeError, type_text(field, value, rule).c_str());
  throw py::error_already_set();
}

bool is_bool(py::handle value) {
  return PyBool_Check(value.ptr()) || std::string_view(Py_TYPE(value.ptr())->tp_name) == "numpy.bool_";
}

std::uint64_t whole_number(py::handle value, const char* field, WholeRange range) {
  if (is_bool(value) || !PyIndex_Check(value.ptr())) throw_type_error(field, value, "a whole number");
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) throw py::error_already_set();
  const std::uint64_t number = PyLong_AsUnsignedLongLong(index.ptr());
  const bool fits = !PyErr_Occurred();
  PyErr_Clear();
  if (fits && range.least <= number && number <= range.most) return number;
  throw_value_error(
      field, index,
      "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most));
}

double real_number(py::handle value, const char* field) {
  if (is_bool(value) || !PyNumber_Check(value.ptr())) throw_type_error(field, value, "a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) throw_type_error_from(field, value, "a number");
    if (!PyLong_Check(value.ptr()) || !PyErr_ExceptionMatches(PyExc_OverflowError))
      throw py::error_already_set();
    PyErr_Clear();
    throw_value_error(field, value, "a number of at most 1.8e308");
  }
  if (std::isnan(number)) throw_value_error(field, value, "a number");
  return number;
}

bool truth(py::handle value, const char* field) {
  if (value.ptr() == Py_True) return true;
  if (value.ptr() == Py_False) return false;
  throw_type_error(field, value, "True or False");
}

std::string text(py::handle value, const char* field) {
  if (!PyUnicode_Check(value.ptr())) throw_type_error(field, value, "a str");
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes == nullptr)
    throw py::error_already_set();  // a lone surrogate: UnicodeEncodeError, which is a ValueError
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace tally::python

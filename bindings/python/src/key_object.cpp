#include "key_object.hpp"

#include <boost/locale/utf.hpp>
#include <iterator>

#include "arguments.hpp"

namespace tally::python {
namespace {

constexpr const char* rule = "str, bytes or an integer";

/// With the exception that is set now, if any, as its cause.
[[noreturn]] void throw_not_a_key(PyObject* key, KeyName name) {
  const std::string_view type = Py_TYPE(key)->tp_name;
  const bool is_missing =
      key == Py_None || PyFloat_Check(key) || type.ends_with("NAType") || type.ends_with("NaTType");
  const std::string text = is_missing && name.index != KeyName{""}.index
                               ? std::string(rule) + "; leave missing values out, as by Series.dropna()"
                               : std::string(rule);
  if (PyErr_Occurred()) throw_type_error_from(name.text(), key, text);
  throw_type_error(name.text(), key, text);
}

}  // namespace

std::string KeyName::text() const {
  if (index == std::numeric_limits<std::size_t>::max()) return field;
  return std::string(field) + "[" + std::to_string(index) + "]";
}

void append_utf8(std::string& text, std::uint32_t code_point, KeyName name) {
  if (code_point < 0x80) {
    text.push_back(static_cast<char>(code_point));
    return;
  }
  if (!boost::locale::utf::is_valid_codepoint(code_point))
    throw py::value_error(name.text() + " has the code point " + std::to_string(code_point) +
                          ", which UTF-8 cannot encode; must be text without lone surrogates, or bytes");
  boost::locale::utf::utf_traits<char>::encode(code_point, std::back_inserter(text));
}

KeyObject::KeyObject(PyObject* key, std::string& scratch, KeyName name) {
  if (PyUnicode_Check(key)) {
    take_text(key, scratch, name);
  } else if (PyBytes_Check(key)) {
    bytes_ = {PyBytes_AS_STRING(key), static_cast<std::size_t>(PyBytes_GET_SIZE(key))};
    is_in_object_ = true;
  } else if (PyLong_Check(key) && !PyBool_Check(key)) {
    take_integer(key, name);
  } else {
    take_other(key, scratch, name);
  }
}

void KeyObject::take_integer(PyObject* key, KeyName name) {
  is_integer_ = true;
  int overflow = 0;
  integer_ = static_cast<std::uint64_t>(PyLong_AsLongLongAndOverflow(key, &overflow));
  if (overflow == 0) return;
  if (overflow > 0) {
    integer_ = PyLong_AsUnsignedLongLong(key);
    if (!PyErr_Occurred()) return;
    PyErr_Clear();
  }
  throw_value_error(name.text(), key, "an integer from -9223372036854775808 to 18446744073709551615");
}

void KeyObject::take_text(PyObject* key, std::string& scratch, KeyName name) {
  if (PyUnicode_READY(key) != 0) throw py::error_already_set();
  const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(key));
  if (PyUnicode_IS_ASCII(key)) {
    bytes_ = {static_cast<const char*>(PyUnicode_DATA(key)), size};
    is_in_object_ = true;
    return;
  }
  // Not by PyUnicode_AsUTF8, which would keep the UTF-8 in every str.
  scratch.clear();
  const int kind = PyUnicode_KIND(key);
  const void* data = PyUnicode_DATA(key);
  for (std::size_t i = 0; i < size; ++i)
    append_utf8(scratch, PyUnicode_READ(kind, data, static_cast<Py_ssize_t>(i)), name);
  bytes_ = scratch;
}

void KeyObject::take_other(PyObject* key, std::string& scratch, KeyName name) {
  if (PyByteArray_Check(key)) {
    scratch.assign(PyByteArray_AS_STRING(key), static_cast<std::size_t>(PyByteArray_GET_SIZE(key)));
  } else if (PyMemoryView_Check(key)) {
    const py::buffer_info info = py::reinterpret_borrow<py::buffer>(key).request();
    if (info.itemsize != 1 || info.ndim != 1 || info.strides[0] != 1)
      throw_type_error(name.text(), key, "a contiguous view of single bytes; pass bytes(view)");
    scratch.assign(static_cast<const char*>(info.ptr), static_cast<std::size_t>(info.size));
  } else if (PyIndex_Check(key) && !is_bool(key)) {
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(key));
    if (index) return take_integer(index.ptr(), name);
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    throw_not_a_key(key, name);
  } else {
    throw_not_a_key(key, name);
  }
  bytes_ = scratch;
}

}  // namespace tally::python

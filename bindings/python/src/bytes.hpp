#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "python.hpp"
#include "records.hpp"

namespace tally::python {

/// New bytes of this size, to be written before anybody else sees them.
inline py::bytes new_bytes(std::uint64_t num_bytes) {
  PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(num_bytes));
  if (bytes == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes);
}

inline py::bytes bytes_from(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The bytes of an object with a buffer: bytes, bytearray, memoryview, an array of bytes. Valid while this exists. What is
/// not in bytes is copied first, because another thread may change it, also where this view of it is read only.
class BytesArgument {
 public:
  /// Throws TypeError that names the field.
  BytesArgument(py::handle object, const char* field) : view_(object, field) {
    if (!view_.is_constant()) copy_.assign(view_.bytes().begin(), view_.bytes().end());
  }

  std::span<const std::byte> span() const noexcept { return view_.is_constant() ? view_.bytes() : copy_; }

 private:
  struct View {
    View(py::handle object, const char* field) {
      if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) == 0) return;
      PyErr_Clear();
      throw py::type_error(std::string(field) + " is of type " + Py_TYPE(object.ptr())->tp_name +
                           "; must be bytes, or another contiguous buffer");
    }
    ~View() { PyBuffer_Release(&buffer); }
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    bool is_constant() const noexcept {
      PyObject* owner = buffer.obj;
      if (owner != nullptr && PyMemoryView_Check(owner)) owner = PyMemoryView_GET_BASE(owner);
      return owner != nullptr && PyBytes_CheckExact(owner);
    }
    std::span<const std::byte> bytes() const noexcept {
      return {static_cast<const std::byte*>(buffer.buf), static_cast<std::size_t>(buffer.len)};
    }

    Py_buffer buffer{};
  };

  View view_;
  std::vector<std::byte> copy_;
};

/// What pickle needs of an object that `tally.from_bytes` makes again; the bytes travel without a copy where the protocol
/// and its user can do so.
inline py::tuple reduced(py::bytes bytes, int protocol) {
  const py::object make = in_records("from_pickle");
  if (protocol >= 5)
    return py::make_tuple(make, py::make_tuple(py::module_::import("pickle").attr("PickleBuffer")(bytes)));
  return py::make_tuple(make, py::make_tuple(bytes));
}

}  // namespace tally::python

#include "errors.hpp"

#include <sys/stat.h>

#include <cstring>

#include "arguments.hpp"
#include "records.hpp"
#include "tally/serialization/file_kind.hpp"
#include "tally/streams/state_kind.hpp"
#include "tally/summaries/terms.hpp"

namespace tally::python {
namespace {

[[noreturn]] void raise(const char* class_name, const py::object& exception) {
  PyErr_SetObject(in_records(class_name).ptr(), exception.ptr());
  throw py::error_already_set();
}

/// The text of an error, which may quote bytes that are no UTF-8: the name of a publisher.
py::object text_of_error(const std::exception& error) {
  const std::string_view what = error.what();
  const py::object text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(what.data(), static_cast<Py_ssize_t>(what.size()), "backslashreplace"));
  if (!text) throw py::error_already_set();
  return text;
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const FormatError& error) {
    throw_format_error(error, py::none());
  } catch (const StateMismatch& error) {
    raise("StateMismatch", call_in_records("StateMismatch", std::string(error.what()), error.option,
                                           error.saved, error.wanted));
  } catch (const NotAuthentic& error) {
    raise("NotAuthentic", call_in_records("NotAuthentic", text_of_error(error)));
  } catch (const NoRoomForPeer& error) {
    raise("NoRoomForPeer", call_in_records("NoRoomForPeer", text_of_error(error)));
  } catch (const std::invalid_argument& error) {
    PyErr_SetObject(PyExc_ValueError, text_of_error(error).ptr());
    throw py::error_already_set();
  } catch (const std::length_error&) {  // of a vector that is longer than any can be
    PyErr_NoMemory();
    throw py::error_already_set();
  } catch (const std::system_error& error) {
    throw_os_error(error, py::none());
  }
}

}  // namespace

void throw_format_error(const FormatError& error, py::handle path) {
  const char* name = dynamic_cast<const FileKindError*>(&error) != nullptr ? "FileKindError" : "FormatError";
  raise(name, call_in_records(name, std::string(error.what()), path, error.offset()));
}

void throw_os_error(const std::system_error& error, py::handle path) {
  const int number = error.code().value();
  const py::object type = py::reinterpret_borrow<py::object>(PyExc_OSError);
  const py::object exception =
      path.is_none() ? type(number, std::string(error.what())) : type(number, error.code().message(), path);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

std::string path_from(py::handle path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) throw py::error_already_set();
  const py::bytes own = py::reinterpret_steal<py::bytes>(bytes);
  return own;
}

void refuse_pipe(py::handle path, const std::string& own_path) {
  struct stat status {};
  if (::stat(own_path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return;
  throw_value_error("path", path, "a regular file, not a pipe or a device");
}

void register_errors() {
  // Errors of Python that are thrown meanwhile replace the C++ one.
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      translate(thrown);
    } catch (py::error_already_set& error) {
      error.restore();
    }
  });
}

}  // namespace tally::python

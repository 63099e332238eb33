#pragma once

#include <string>
#include <system_error>

#include "python.hpp"
#include "tally/serialization.hpp"

namespace tally::python {

/// Registers how exceptions of the library become those of Python: FormatError becomes tally.FormatError, FileKindError
/// tally.FileKindError, StateMismatch tally.StateMismatch, NotAuthentic tally.NotAuthentic, NoRoomForPeer
/// tally.NoRoomForPeer, all of them ValueErrors, as std::invalid_argument itself, and std::system_error OSError. pybind11
/// turns std::bad_alloc into MemoryError.
void register_errors();

/// Throws tally.FormatError, or FileKindError, with the path.
[[noreturn]] void throw_format_error(const FormatError& error, py::handle path);
/// Throws OSError with errno and the path: FileNotFoundError, FileExistsError, ...
[[noreturn]] void throw_os_error(const std::system_error& error, py::handle path);

/// A str, bytes or os.PathLike as the path of a file. Throws TypeError.
std::string path_from(py::handle path);

/// Throws ValueError for a pipe or a device, whose end may never come, so that Ctrl-C could not end the call that reads it.
/// Leaves what cannot be read to that call.
void refuse_pipe(py::handle path, const std::string& own_path);

/// Runs `call`, which uses this file; errors name it.
template <class Call>
decltype(auto) about_file(const std::string& path, Call call) {
  try {
    return call();
  } catch (const FormatError& error) {
    throw_format_error(error, py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(path.c_str())));
  } catch (const std::system_error& error) {
    throw_os_error(error, py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(path.c_str())));
  }
}

}  // namespace tally::python

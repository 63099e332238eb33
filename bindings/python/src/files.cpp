#include <variant>

#include "arguments.hpp"
#include "bindings.hpp"
#include "bytes.hpp"
#include "errors.hpp"
#include "filter.hpp"
#include "records.hpp"
#include "sketch.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::python {
namespace {

py::object wrapped_file(AnyFile file) {
  return std::visit([](auto& own) { return wrapped(std::move(own)); }, file);
}

py::object open_file(py::handle path, py::handle mmap, py::handle verify, py::handle key) {
  const std::string own_path = path_from(path);
  const std::optional<HashKey> secret = hash_key_from(key);
  const VerifyBody verify_body = truth(verify, "verify") ? VerifyBody::yes : VerifyBody::no;
  refuse_pipe(path, own_path);
  if (truth(mmap, "mmap")) {
    return wrapped(about_file(own_path, [&] {
      const Unlocked unlocked;
      return MappedFilter::open(own_path, secret, verify_body);
    }));
  }
  return wrapped_file(about_file(own_path, [&] {
    const Unlocked unlocked;
    return load_any(own_path, secret);
  }));
}

py::object from_bytes(py::handle data, py::handle key) {
  const BytesArgument bytes(data, "data");
  const std::optional<HashKey> secret = hash_key_from(key);
  const auto read = [&]() -> AnyFile {
    const Unlocked unlocked;
    if (is_filter(file_kind(bytes.span()))) return deserialize(bytes.span(), secret);
    return deserialize_sketch(bytes.span(), secret);
  };
  return wrapped_file(read());
}

}  // namespace

void bind_files(py::module_& module) {
  define(
      module, "open(path, *, mmap=False, verify=False, key=None)", open_file,
      "The filter or sketch in a file, which this module, the command or C++ wrote. With mmap, the file is "
      "mapped: it\n"
      "opens at once whatever its size, all processes that map it share its memory, and it is read only; "
      "`verify` then\n"
      "reads and checks its body, which is always done without mmap. `key` is the secret of a keyed hash.\n\n"
      "Raises FormatError (with path and offset) for damaged files, ValueError for a missing or wrong key, "
      "OSError.",
      "path"_a, py::kw_only(), "mmap"_a = false, "verify"_a = false, "key"_a = py::none());
  define(module, "from_bytes(data, *, key=None)", from_bytes,
         "The filter or sketch in the bytes of a file, which to_bytes returned. Raises FormatError (with "
         "offset).",
         "data"_a, py::kw_only(), "key"_a = py::none());
}

}  // namespace tally::python

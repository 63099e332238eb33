#pragma once

#include "arguments.hpp"
#include "bytes.hpp"
#include "errors.hpp"
#include "keys.hpp"
#include "python.hpp"
#include "tally/serialization.hpp"

// What every structure has that can be copied, and every one with a file. `Structure` has hasher(), and functions found by
// its name: copied(structure) returns a new object of Python, bytes_of_file(structure) its file, and
// save_to(structure, path, Overwrite) writes it.

namespace tally::python {

/// Throws ValueError for a keyed hash, whose secret a pickle would show.
inline void refuse_secret(const KeyHasher& hasher, const std::string& noun, const char* fix = "") {
  if (hasher.id() == HashId::highwayhash_128)
    throw py::value_error(
        noun + " with a keyed hash is not pickled, because the pickle would contain the secret" + fix);
}

template <class Structure>
void define_copies(py::handle cls, const char* text = "A copy with memory of its own.") {
  const auto copy = [](const Structure& structure) { return copied(structure); };
  method(cls, "copy(self)", copy, text);
  method(cls, "__copy__(self)", copy, "copy()");
  method(
      cls, "__deepcopy__(self, memo)",
      [](const Structure& structure, py::handle) { return copied(structure); }, "copy()", "memo"_a);
}

/// `noun` is "a filter", as errors call it.
template <class Structure>
void define_file(py::handle cls, const char* noun) {
  method(
      cls, "to_bytes(self)", [](const Structure& structure) { return bytes_of_file(structure); },
      "The bytes of its file, which are the same on every machine; see from_bytes.");
  method(
      cls, "__reduce__(self)", [](py::object self) -> py::object { return self.attr("__reduce_ex__")(4); },
      "For pickle and copy.");
  method(
      cls, "__reduce_ex__(self, protocol)",
      [noun](const Structure& structure, int protocol) {
        refuse_secret(structure.hasher(), noun, "; save() it, and open(path, key=...)");
        return reduced(bytes_of_file(structure), protocol);
      },
      "For pickle and copy.", "protocol"_a);
  method(
      cls, "save(self, path, *, overwrite=False)",
      [](const Structure& structure, py::handle path, py::handle overwrite) {
        const std::string own_path = path_from(path);
        const Overwrite choice = truth(overwrite, "overwrite") ? Overwrite::replace : Overwrite::refuse;
        about_file(own_path, [&] { save_to(structure, own_path, choice); });
      },
      "Writes the file that the command and C++ read, all or nothing. Raises FileExistsError if there is one "
      "and not\n"
      "overwrite, and other OSErrors.",
      "path"_a, py::kw_only(), "overwrite"_a = false);
  property(
      cls, "seed",
      [](const Structure& structure) -> py::object {
        const KeyHasher hasher = structure.hasher();
        if (hasher.id() == HashId::highwayhash_128) return py::none();
        return py::int_(hasher.seed_or_key_id());
      },
      "The seed of the hash; None with a keyed hash.");
}

}  // namespace tally::python

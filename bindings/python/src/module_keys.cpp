#include <pybind11/numpy.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "bytes.hpp"
#include "guard.hpp"
#include "keys.hpp"
#include "records.hpp"
#include "tally/hashing/random_seed.hpp"
#include "tally/hashing/shard.hpp"
#include "tally/version.hpp"

namespace tally::python {
namespace {

py::array digests(py::handle keys, py::handle seed, py::handle key) {
  const KeyBatch batch(keys, hasher_from(seed, key));
  static_assert(sizeof(Hash128) == 16);
  py::array results(py::reinterpret_borrow<py::dtype>(in_records("digest_dtype")),
                    std::vector<py::ssize_t>{static_cast<py::ssize_t>(batch.size())});
  auto* to = static_cast<Hash128*>(results.mutable_data());
  const Unlocked unlocked;
  batch.for_each_part([&](std::size_t first, std::span<const Hash128> part) {
    std::copy(part.begin(), part.end(), to + first);
  });
  return results;
}

py::array_t<std::uint32_t> shards(py::handle keys, py::handle num_shards, py::handle seed, py::handle key) {
  const auto count = static_cast<std::uint32_t>(whole_number(num_shards, "num_shards", {1, max_num_shards}));
  const KeyBatch batch(keys, hasher_from(seed, key));
  py::array_t<std::uint32_t> results(static_cast<py::ssize_t>(batch.size()));
  std::uint32_t* to = results.mutable_data();
  const Unlocked unlocked;
  batch.for_each_part([&](std::size_t first, std::span<const Hash128> part) {
    for (std::size_t i = 0; i < part.size(); ++i) to[first + i] = shard_of(part[i], count);
  });
  return results;
}

}  // namespace

void bind_keys(py::module_& module) {
  module.attr("default_seed") = default_seed;
  module.attr("max_num_shards") = max_num_shards;
  module.attr("__version__") = std::string(version());
  define(
      module, "digests(keys, *, seed=None, key=None)", digests,
      "The digests of keys, 128 bits each, as an array of tally.digest_dtype. All batch functions of "
      "structures with the\n"
      "same seed or key take them in place of the keys, so that keys are hashed once for several structures.",
      "keys"_a, py::kw_only(), "seed"_a = py::none(), "key"_a = py::none());
  define(module, "shards(keys, num_shards, *, seed=None, key=None)", shards,
         "Which of num_shards (1 to 16384) structures holds each key, as an array of uint32: the same as in "
         "C++ and in Redis\n"
         "(docs/format.md).",
         "keys"_a, "num_shards"_a, py::kw_only(), "seed"_a = py::none(), "key"_a = py::none());
  define(
      module, "_whole_number(value, field, least, most)",
      [](py::handle value, const std::string& field, std::uint64_t least, std::uint64_t most) {
        return whole_number(value, field.c_str(), {least, most});
      },
      "The value as an int. Raises TypeError or ValueError that names the field and its range.", "value"_a,
      "field"_a, "least"_a, "most"_a);
  define(
      module, "random_seed()", [] { return random_seed(); },
      "A seed from the system's random numbers, so that nobody can prepare colliding keys beforehand.");
  define(
      module, "random_hash_key()",
      [] {
        const HashKey key = random_hash_key();
        return bytes_from(key);
      },
      "A secret of 32 bytes for the `key` of a structure. No file contains it: without it, a filter that was "
      "saved cannot\n"
      "be opened.");
}

}  // namespace tally::python

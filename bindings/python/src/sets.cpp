#include <array>

#include "arguments.hpp"
#include "array_of.hpp"
#include "batches.hpp"
#include "bindings.hpp"
#include "guarded.hpp"
#include "records.hpp"
#include "shapes.hpp"
#include "tally/filters/aging_bloom.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sets/recent_keys.hpp"
#include "whole.hpp"

namespace tally::python {
namespace {

/// A set of digests that says how many bytes it may take.
struct LimitedSet {
  HashSet set;
  std::uint64_t max_bytes;
};
using PyHashSet = Guarded<LimitedSet>;
using PyRecentKeys = Guarded<RecentKeys>;
using PyAgingBloom = Guarded<AgingBloomFilter<>>;

InsertOutcome outcome_of(HashSet::Outcome outcome) {
  switch (outcome) {
    case HashSet::Outcome::inserted:
      return InsertOutcome::new_key;
    case HashSet::Outcome::present:
      return InsertOutcome::seen;
    case HashSet::Outcome::full:
      return InsertOutcome::full;
  }
  return InsertOutcome::full;
}

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

PyHashSet new_hash_set(py::handle max_bytes, py::handle seed, py::handle key) {
  const std::uint64_t most =
      max_bytes.is_none() ? unlimited : whole_number(max_bytes, "max_bytes", {1, unlimited});
  return {LimitedSet{HashSet(most), most}, hasher_from(seed, key)};
}

py::tuple reduced_hash_set(const PyHashSet& set) {
  refuse_secret(set.hasher(), "a set");
  const auto [image, max_bytes] = set.read(
      Held::long_batch, [](const LimitedSet& own) { return std::pair(own.set.image(), own.max_bytes); });
  return py::make_tuple(in_records("hash_set_from_pickle"),
                        py::make_tuple(array_of(std::span(image)), max_bytes, set.hasher().seed_or_key_id()));
}

PyHashSet hash_set_from_image(const py::array_t<std::uint64_t, py::array::c_style>& image,
                              py::handle max_bytes, py::handle seed) {
  const std::uint64_t most = whole_number(max_bytes, "max_bytes");
  const std::span<const std::uint64_t> words(image.data(), static_cast<std::size_t>(image.size()));
  return {LimitedSet{HashSet(most, words), most}, hasher_from(seed, py::none())};
}

int hash_set_contains(PyObject* self, PyObject* key) noexcept {
  return slot_of_in<PyHashSet>(
      self, key, [](const LimitedSet& own, Hash128 digest) { return own.set.contains(digest); });
}

int aging_contains(PyObject* self, PyObject* key) noexcept {
  return slot_of_in<PyAgingBloom>(self, key,
                                  [](const auto& own, Hash128 digest) { return own.may_contain(digest); });
}

void bind_hash_set(py::module_& module) {
  const auto slots = [](PyHeapTypeObject* type) { type->as_sequence.sq_contains = hash_set_contains; };
  py::class_<PyHashSet> cls(module, "HashSet",
                            documented("HashSet(max_bytes=None, *, seed=None, key=None)",
                                       "A set of keys as digests, about 16 bytes each, that grows: exact "
                                       "except for two keys whose digests agree in\n"
                                       "102 bits (96 in a set of less than 1 MiB). It never takes more than "
                                       "max_bytes; insert then returns\n"
                                       "InsertOutcome.full.")
                                .c_str(),
                            py::custom_type_setup(slots));
  cls.def(py::init(&new_hash_set), "max_bytes"_a = py::none(), py::kw_only(), "seed"_a = py::none(),
          "key"_a = py::none(),
          documented("__init__(self, max_bytes=None, *, seed=None, key=None)", "").c_str());
  method(
      cls, "insert(self, key)",
      [](PyHashSet& set, py::handle key) {
        const Hash128 digest = digest_of(key, set.hasher());
        return member(EnumClass::insert_outcome,
                      outcome_of(set.write(1, [&](LimitedSet& own) { return own.set.insert(digest); })));
      },
      "Inserts the key. Returns InsertOutcome.new_key, seen or full.", "key"_a);
  method(
      cls, "insert_batch(self, keys)",
      [](PyHashSet& set, py::handle keys) {
        return results_of_keys<std::uint8_t>(
            set, keys,
            [](LimitedSet& own, std::span<const Hash128> digests, std::span<std::uint8_t> results) {
              for (std::size_t i = 0; i < digests.size(); ++i) {
                if (i + 8 < digests.size()) own.set.prefetch(digests[i + 8]);
                results[i] = static_cast<std::uint8_t>(outcome_of(own.set.insert(digests[i])));
              }
            });
      },
      "insert for every key, in order, as an array of the numbers of InsertOutcome (uint8). If it raises "
      "MemoryError, the\n"
      "keys before the one without memory are in the set.",
      "keys"_a);
  method(
      cls, "contains_batch(self, keys)",
      [](const PyHashSet& set, py::handle keys) {
        return results_of_keys<bool>(
            set, keys, [](const LimitedSet& own, std::span<const Hash128> digests, std::span<bool> results) {
              std::array<std::uint32_t, KeyBatch::keys_per_part> absent;
              const std::size_t num_absent =
                  own.set.find_absent(digests, std::span(absent).first(digests.size()));
              std::fill(results.begin(), results.end(), true);
              for (std::size_t i = 0; i < num_absent; ++i) results[absent[i]] = false;
            });
      },
      "`key in set` for every key, as an array of bool.", "keys"_a);
  method(
      cls, "__len__(self)",
      [](const PyHashSet& set) { return set.read(1, [](const LimitedSet& own) { return own.set.size(); }); },
      "The number of keys.");
  method(
      cls, "clear(self)",
      [](PyHashSet& set) { set.write(Held::long_batch, [](LimitedSet& own) { own.set.clear(); }); },
      "Removes all keys. The memory stays.");
  property(
      cls, "memory_bytes",
      [](const PyHashSet& set) {
        return set.read(1, [](const LimitedSet& own) { return own.set.num_bytes(); });
      },
      "Bytes of memory.");
  method(
      cls, "__repr__(self)",
      [](const PyHashSet& set) {
        const auto [size, bytes] =
            set.read(1, [](const LimitedSet& own) { return std::pair(own.set.size(), own.set.num_bytes()); });
        return "<tally.HashSet: " + std::to_string(size) + " keys in " + std::to_string(bytes) + " bytes>";
      },
      "Keys and memory now.");
  define_copies<PyHashSet>(cls);
  method(cls, "__reduce__(self)", reduced_hash_set, "For pickle and copy.");
  method(
      cls, "__reduce_ex__(self, protocol)",
      [](const PyHashSet& set, py::handle) { return reduced_hash_set(set); }, "For pickle and copy.",
      "protocol"_a);
  define(module, "_hash_set_from_image(image, max_bytes, seed)", hash_set_from_image,
         "What a pickle of a HashSet calls.", "image"_a, "max_bytes"_a, "seed"_a);
}

void bind_recent_keys(py::module_& module) {
  py::class_<PyRecentKeys> cls(module, "RecentKeys",
                               documented("RecentKeys(memory_bytes, *, seed=None, key=None)",
                                          "Remembers recent keys in bounded memory, 16 bytes each, and "
                                          "forgets old ones: a new key is never taken for an\n"
                                          "old one, and a forgotten one is taken for new.")
                                   .c_str());
  cls.def(py::init([](py::handle memory_bytes, py::handle seed, py::handle key) {
            return PyRecentKeys(RecentKeys(whole_number(memory_bytes, "memory_bytes", {64, unlimited})),
                                hasher_from(seed, key));
          }),
          "memory_bytes"_a, py::kw_only(), "seed"_a = py::none(), "key"_a = py::none(),
          documented("__init__(self, memory_bytes, *, seed=None, key=None)", "").c_str());
  define_copies<PyRecentKeys>(cls);
  refuse_pickling(cls, "RecentKeys cannot be pickled; it has no file");
  method(
      cls, "insert(self, key)",
      [](PyRecentKeys& recent, py::handle key) {
        const Hash128 digest = digest_of(key, recent.hasher());
        return recent.write(1, [&](RecentKeys& own) { return own.insert(digest); });
      },
      "Makes the key the most recent of its line of four. Returns whether it was absent.", "key"_a);
  method(
      cls, "insert_batch(self, keys)",
      [](PyRecentKeys& recent, py::handle keys) {
        return results_of_keys<bool>(
            recent, keys, [](RecentKeys& own, std::span<const Hash128> digests, std::span<bool> results) {
              for (std::size_t i = 0; i < digests.size(); ++i) {
                if (i + 8 < digests.size()) own.prefetch(digests[i + 8]);
                results[i] = own.insert(digests[i]);
              }
            });
      },
      "insert for every key, in order, as an array of bool.", "keys"_a);
  property(
      cls, "num_forgotten",
      [](const PyRecentKeys& recent) {
        return recent.read(1, [](const RecentKeys& own) { return own.num_forgotten(); });
      },
      "Keys pushed out so far: while it is 0, no key was taken for a new one by mistake.");
  property(
      cls, "memory_bytes",
      [](const PyRecentKeys& recent) {
        return recent.read(1, [](const RecentKeys& own) { return own.num_bytes(); });
      },
      "Bytes of memory.");
  method(
      cls, "clear(self)",
      [](PyRecentKeys& recent) { recent.write(Held::long_batch, [](RecentKeys& own) { own.clear(); }); },
      "Forgets all keys.");
}

void bind_aging_bloom(py::module_& module) {
  const auto slots = [](PyHeapTypeObject* type) { type->as_sequence.sq_contains = aging_contains; };
  py::class_<PyAgingBloom> cls(
      module, "AgingBloomFilter",
      documented(
          "AgingBloomFilter(keys_per_generation, shape, *, seed=None, key=None)",
          "A set of recent keys in two BloomFilters of this BloomShape: it remembers at least the last\n"
          "keys_per_generation insertions, and at most twice as many. Its false positive rate is at most the "
          "sum of those\n"
          "of both: plan the shape for keys_per_generation keys and half of the rate.")
          .c_str(),
      py::custom_type_setup(slots));
  cls.def(
      py::init([](py::handle keys_per_generation, py::handle shape, py::handle seed, py::handle key) {
        const std::uint64_t keys = whole_number(keys_per_generation, "keys_per_generation", {1, unlimited});
        const FilterShape own = shape_from(shape);
        const auto* bloom = std::get_if<BloomShape>(&own.shape);
        if (bloom == nullptr || own.scheme_id != DefaultScheme::file_id)
          throw_value_error("shape", shape, "a BloomShape with the scheme 'congruential'");
        const KeyHasher hasher = hasher_from(seed, key);
        return PyAgingBloom(AgingBloomFilter<>(*bloom, hasher, keys), hasher);
      }),
      "keys_per_generation"_a, "shape"_a, py::kw_only(), "seed"_a = py::none(), "key"_a = py::none(),
      documented("__init__(self, keys_per_generation, shape, *, seed=None, key=None)", "").c_str());
  define_copies<PyAgingBloom>(cls);
  refuse_pickling(cls, "an AgingBloomFilter cannot be pickled; it has no file");
  method(
      cls, "insert(self, key)",
      [](PyAgingBloom& filter, py::handle key) {
        const Hash128 digest = digest_of(key, filter.hasher());
        filter.write(1, [&](auto& own) { own.insert(digest); });
      },
      "Inserts the key; forgets the older generation if the newer one is full.", "key"_a);
  method(
      cls, "insert_batch(self, keys)",
      [](PyAgingBloom& filter, py::handle keys) {
        const KeyBatch batch(keys, filter.hasher());
        filter.write(batch.size(), [&](auto& own) {
          batch.for_each_part(
              [&](std::size_t, std::span<const Hash128> digests) { own.insert_batch(digests); });
        });
      },
      "insert for every key, in order.", "keys"_a);
  method(
      cls, "test_and_refresh(self, key)",
      [](PyAgingBloom& filter, py::handle key) {
        const Hash128 digest = digest_of(key, filter.hasher());
        return filter.write(1, [&](auto& own) { return own.test_and_refresh(digest); });
      },
      "Whether the key was there; afterwards it is in the newer generation.", "key"_a);
  method(
      cls, "may_contain(self, key)",
      [](const PyAgingBloom& filter, py::handle key) {
        const Hash128 digest = digest_of(key, filter.hasher());
        return filter.read(1, [&](const auto& own) { return own.may_contain(digest); });
      },
      "Whether the key may be in it. `key in filter` is the same.", "key"_a);
  method(
      cls, "may_contain_batch(self, keys)",
      [](const PyAgingBloom& filter, py::handle keys) {
        return results_of_keys<bool>(
            filter, keys, [](const auto& own, std::span<const Hash128> digests, std::span<bool> results) {
              own.may_contain_batch(digests, results);
            });
      },
      "may_contain for every key, as an array of bool.", "keys"_a);
  method(
      cls, "advance(self)",
      [](PyAgingBloom& filter) { filter.write(Held::long_batch, [](auto& own) { own.advance(); }); },
      "Forgets the older generation now.");
  method(
      cls, "clear(self)",
      [](PyAgingBloom& filter) { filter.write(Held::long_batch, [](auto& own) { own.clear(); }); },
      "Removes all keys.");
  property(
      cls, "keys_per_generation",
      [](const PyAgingBloom& filter) {
        return filter.read(1, [](const auto& own) { return own.keys_per_generation(); });
      },
      "Insertions after which the older generation is forgotten.");
  property(
      cls, "num_advances",
      [](const PyAgingBloom& filter) {
        return filter.read(1, [](const auto& own) { return own.num_advances(); });
      },
      "Generations forgotten so far.");
}

}  // namespace

void bind_sets(py::module_& module) {
  bind_hash_set(module);
  bind_recent_keys(module);
  bind_aging_bloom(module);
}

}  // namespace tally::python

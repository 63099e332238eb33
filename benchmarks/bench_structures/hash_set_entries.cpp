#include <array>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "entries.hpp"
#include "support/rounds.hpp"
#include "table_calls.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/sets/hash_set.hpp"

namespace tally::bench {
namespace {

/// HashSet stores digests, so that its caller hashes. For insertions in batches the caller prefetches.
class HashSetCalls {
 public:
  std::uint64_t num_bytes() const { return set_.num_bytes(); }
  template <class Key>
  bool insert(const Key& key) {
    return set_.insert(hasher_(key)) != HashSet::Outcome::full;
  }
  template <class Key>
  bool contains(const Key& key) const {
    return set_.contains(hasher_(key));
  }
  template <class Keys>
  std::uint64_t insert_batch(const Keys& keys) {
    std::uint64_t num_failed = 0;
    detail::in_windows(hasher_, keys, [&](std::size_t, std::span<const Hash128> digests) {
      for (std::size_t first = 0; first < digests.size(); first += keys_per_window) {
        const auto own = digests.subspan(first, std::min(keys_per_window, digests.size() - first));
        for (const Hash128& digest : own) set_.prefetch(digest);
        for (const Hash128& digest : own) num_failed += !insert(digest);
      }
    });
    return num_failed;
  }
  template <class Keys>
  void contains_batch(const Keys& keys, std::span<bool> results) const {
    std::ranges::fill(results, true);
    detail::in_windows(hasher_, keys, [&](std::size_t first, std::span<const Hash128> digests) {
      std::array<std::uint32_t, batch> indices;
      const std::size_t num_absent = set_.find_absent(digests, std::span(indices).first(digests.size()));
      for (std::size_t i = 0; i < num_absent; ++i) results[first + indices[i]] = false;
    });
  }

 private:
  KeyHasher hasher_{1};
  HashSet set_;
};

template <class Table>
std::unique_ptr<Structure> make_table(std::uint64_t num_keys) {
  return structure_of(TableCalls<Table>(num_keys), {.planned_rate = 0.0});
}

}  // namespace

std::vector<Entry> hash_set_entries() {
  using Word = std::uint64_t;
  using Equal = std::equal_to<Word>;
  using Set = std::unordered_set<Word, std::hash<Word>, Equal, CountedAllocator<Word>>;
  using Pair = std::pair<const Word, std::uint32_t>;
  using Map = std::unordered_map<Word, std::uint32_t, std::hash<Word>, Equal, CountedAllocator<Pair>>;
  constexpr std::uint64_t most_nodes = std::uint64_t{1} << 26;  // a node per key: 2.7 GB
  return {{"hash-set", [](std::uint64_t) { return structure_of(HashSetCalls(), {.planned_rate = 0.0}); }},
          {"std::unordered_set", make_table<Set>, most_nodes},
          {"std::unordered_map, counts", make_table<Map>, most_nodes}};
}

}  // namespace tally::bench

#include <absl/container/flat_hash_set.h>

#include "entries.hpp"
#include "table_calls.hpp"

namespace tally::bench {

std::vector<Entry> abseil_entries() {
  using Word = std::uint64_t;
  using Set = absl::flat_hash_set<Word, absl::container_internal::hash_default_hash<Word>,
                                  std::equal_to<Word>, CountedAllocator<Word>>;
  const auto make = [](std::uint64_t num_keys) {
    return structure_of(TableCalls<Set>(num_keys), {.planned_rate = 0.0});
  };
  return {{"absl::flat_hash_set", make}};
}

}  // namespace tally::bench

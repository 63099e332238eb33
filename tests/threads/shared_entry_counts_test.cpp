#include "tally/sets/shared_entry_counts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

namespace tally::test {
namespace {

using Outcome = SharedEntryCounts::Outcome;

constexpr std::uint64_t any_memory = std::numeric_limits<std::uint64_t>::max();

std::uint32_t count_of(const SharedEntryCounts& counts, std::uint64_t entry) {
  std::uint32_t count = 0;
  counts.counts_of({&entry, 1}, {&count, 1});
  return count;
}

TEST(SharedEntryCounts, ThreadsLoseNoOccurrenceWhileTheTableGrows) {
  constexpr std::uint64_t num_entries = 60'000;
  constexpr std::uint32_t num_threads = 4;
  SharedEntryCounts counts(any_memory);
  std::atomic<std::uint64_t> num_inserted = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < num_threads; ++t) {
    threads.emplace_back([&] {
      std::array<std::uint64_t, 50> entries{};
      std::array<bool, 50> is_there{};
      for (std::uint64_t first = 1; first <= num_entries; first += entries.size()) {
        // Some entries are new, some old, and entry 1 is always counted.
        for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = i == 0 ? 1 : first + i;
        counts.count_batch(entries, is_there);
        for (std::size_t i = 0; i < entries.size(); ++i) {
          if (!is_there[i]) num_inserted += counts.insert(entries[i], 1) == Outcome::inserted;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_inserted, counts.size());
  EXPECT_EQ(count_of(counts, 1), num_threads * num_entries / 50);
  for (std::uint64_t entry = 2; entry <= num_entries; ++entry) {
    const bool is_replaced = (entry - 1) % 50 == 0;
    if (count_of(counts, entry) != (is_replaced ? 0 : num_threads)) FAIL() << entry;
  }
}

}  // namespace
}  // namespace tally::test

#include "tally/sets/shared_entry_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "random.hpp"

namespace tally::test {
namespace {

using Outcome = SharedEntryCounts::Outcome;

constexpr std::uint64_t any_memory = std::numeric_limits<std::uint64_t>::max();

bool count_one(SharedEntryCounts& counts, std::uint64_t entry) {
  bool is_there = false;
  counts.count_batch({&entry, 1}, {&is_there, 1});
  return is_there;
}

std::uint32_t count_of(const SharedEntryCounts& counts, std::uint64_t entry) {
  std::uint32_t count = 0;
  counts.counts_of({&entry, 1}, {&count, 1});
  return count;
}

std::vector<EntryCount> all_of(SharedEntryCounts& counts, std::size_t num_vectors) {
  std::vector<EntryCount> all;
  for (const std::vector<EntryCount>& some : counts.take(num_vectors))
    all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(SharedEntryCounts, CountAsAnExactMapHoweverTheTableGrows) {
  for (const std::size_t num_vectors : {1, 7}) {
    SharedEntryCounts counts(any_memory);
    std::map<std::uint64_t, std::uint32_t> twin;
    Random random(1);
    for (int i = 0; i < 400'000; ++i) {
      const std::uint64_t entry = random.between(1, 150'000);
      if (random.below(2) == 0) {
        ASSERT_EQ(count_one(counts, entry), twin.contains(entry));
        if (twin.contains(entry)) ++twin[entry];
      } else {
        const bool is_new = !twin.contains(entry);
        ASSERT_EQ(counts.insert(entry, 3), is_new ? Outcome::inserted : Outcome::present);
        twin[entry] += is_new ? 3 : 1;
      }
    }
    EXPECT_EQ(counts.size(), twin.size());
    EXPECT_LE(counts.num_bytes(), 18 * twin.size());
    for (std::uint64_t entry = 1; entry <= 160'000; ++entry)
      ASSERT_EQ(count_of(counts, entry), twin.contains(entry) ? twin[entry] : 0);
    const std::vector<EntryCount> all = all_of(counts, num_vectors);
    ASSERT_EQ(all.size(), twin.size());
    std::size_t i = 0;
    for (const auto& [entry, count] : twin) ASSERT_EQ(all[i++], (EntryCount{entry, count}));
  }
}

TEST(SharedEntryCounts, NoTableOfAnySizeTakesMoreThan18BytesPerEntryBesidesItsFirstSize) {
  SharedEntryCounts counts(any_memory);
  const std::uint64_t first_bytes = counts.num_bytes();
  for (std::uint64_t entry = 1; entry <= 300'000; ++entry) {
    ASSERT_EQ(counts.insert(entry, 1), Outcome::inserted);
    ASSERT_LE(counts.num_bytes(), std::max(first_bytes, 18 * entry));
  }
}

TEST(SharedEntryCounts, ACountStaysAtItsMaximumAndItsNeighboursAreUnchanged) {
  constexpr std::uint32_t max = EntryCount::max_count;
  SharedEntryCounts counts(1 << 12);
  for (std::uint64_t entry = 1; entry <= 200; ++entry)
    ASSERT_EQ(counts.insert(entry, entry % 2 == 0 ? max - 1 : 5), Outcome::inserted);
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t entry = 1; entry <= 200; ++entry) ASSERT_TRUE(count_one(counts, entry));
  for (std::uint64_t entry = 1; entry <= 200; ++entry)
    EXPECT_EQ(count_of(counts, entry), entry % 2 == 0 ? max : 8) << entry;
  EXPECT_EQ(counts.insert(2, 7), Outcome::present);
  EXPECT_EQ(count_of(counts, 2), max);
}

TEST(SharedEntryCounts, KeepWithinTheirMemoryAndAFullTableStillCountsWhatItHas) {
  for (const std::uint64_t max_bytes :
       {std::uint64_t{1} << 12, std::uint64_t{100'000}, std::uint64_t{1} << 20, std::uint64_t{12} << 20}) {
    SharedEntryCounts counts(max_bytes);
    std::uint64_t entry = 1;
    while (counts.insert(entry, 1) == Outcome::inserted) {
      ASSERT_LE(counts.num_bytes(), max_bytes);
      ++entry;
    }
    EXPECT_EQ(counts.insert(entry, 1), Outcome::full);
    EXPECT_EQ(counts.insert(entry - 1, 1), Outcome::present);
    EXPECT_EQ(count_of(counts, entry - 1), 2u);
    EXPECT_FALSE(count_one(counts, entry));
    EXPECT_EQ(counts.size(), entry - 1);
    EXPECT_GE(40 * counts.size(), max_bytes);
  }
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
    ASSERT_EQ(count_of(counts, entry), is_replaced ? 0 : num_threads) << entry;
  }
}

}  // namespace
}  // namespace tally::test

#include "tally/sets/shared_entry_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "random.hpp"

namespace tally::test {
namespace {

// What one thread sees; tests/threads/ has what several do. An assertion of GoogleTest takes as long as an operation, so
// loops over many entries have theirs behind an if.

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
    std::vector<std::uint32_t> twin(160'001);
    Random random(1);
    for (int i = 0; i < 400'000; ++i) {
      const std::uint64_t entry = random.between(1, 150'000);
      std::uint32_t& count = twin[entry];
      const bool is_new = count == 0;
      if (random.below(2) == 0) {
        if (count_one(counts, entry) == is_new) FAIL() << entry << " after " << i << " operations";
        count += is_new ? 0 : 1;
      } else {
        if (counts.insert(entry, 3) != (is_new ? Outcome::inserted : Outcome::present))
          FAIL() << entry << " after " << i << " operations";
        count += is_new ? 3 : 1;
      }
    }
    std::vector<EntryCount> expected;
    for (std::uint64_t entry = 1; entry < twin.size(); ++entry) {
      if (count_of(counts, entry) != twin[entry]) FAIL() << entry;
      if (twin[entry] != 0) expected.push_back({entry, twin[entry]});
    }
    EXPECT_EQ(counts.size(), expected.size());
    EXPECT_LE(counts.num_bytes(), 18 * expected.size());
    EXPECT_TRUE(all_of(counts, num_vectors) == expected);
  }
}

TEST(SharedEntryCounts, NoTableOfAnySizeTakesMoreThan18BytesPerEntryBesidesItsFirstSize) {
  SharedEntryCounts counts(any_memory);
  const std::uint64_t first_bytes = counts.num_bytes();
  for (std::uint64_t entry = 1; entry <= 300'000; ++entry) {
    if (counts.insert(entry, 1) != Outcome::inserted) FAIL() << entry;
    if (counts.num_bytes() > std::max(first_bytes, 18 * entry))
      FAIL() << entry << " in " << counts.num_bytes();
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
      if (counts.num_bytes() > max_bytes) FAIL() << entry << " in " << counts.num_bytes();
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

}  // namespace
}  // namespace tally::test

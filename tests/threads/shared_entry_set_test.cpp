#include "tally/sets/shared_entry_set.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>
#include <numeric>
#include <thread>
#include <unordered_set>
#include <vector>

#include "crafted_keys.hpp"
#include "random.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

bool contains(const SharedEntrySet& set, std::uint64_t entry) {
  bool result = false;
  set.contains_batch({&entry, 1}, {&result, 1});
  return result;
}

TEST(SharedEntrySet, HoldsWhatWasInsertedHoweverItGrows) {
  SharedEntrySet set(no_limit);
  std::unordered_set<std::uint64_t> twin;
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t entry = random.between(1, 150'000);
    const auto outcome =
        twin.insert(entry).second ? SharedEntrySet::Outcome::inserted : SharedEntrySet::Outcome::present;
    ASSERT_EQ(set.insert(entry), outcome) << entry;
  }
  EXPECT_EQ(set.size(), twin.size());
  for (std::uint64_t entry = 1; entry <= 160'000; ++entry)
    ASSERT_EQ(contains(set, entry), twin.contains(entry));
  EXPECT_LE(set.num_bytes(), 16 * twin.size());
}

TEST(SharedEntrySet, NoChoiceOfEntriesMakesSearchesLong) {
  const auto longest = [](detail::ProcessSalt salt, const std::vector<std::uint64_t>& entries) {
    SharedEntrySet set(no_limit, salt);
    for (const std::uint64_t entry : entries) EXPECT_EQ(set.insert(entry), SharedEntrySet::Outcome::inserted);
    return set.longest_search();
  };
  // An attack is one, where the salt is known.
  const auto against = [](detail::ProcessSalt salt) {
    return [=](std::uint64_t mixed) {
      const std::uint64_t product = mixed * inverse_of(0xd6e8feb86659fd93);
      return ((product ^ (product >> 32)) * inverse_of(salt.first)) ^ salt.second;
    };
  };
  const detail::ProcessSalt known{12345, 1};
  EXPECT_GT(longest(known, entries_of_one_slot(4000, against(known))), 2000u);
  // Of random slots, 3/4 of them in use at most, the longest search is above 2000 with a probability below 10^-25.
  EXPECT_LT(longest(detail::process_salt(), entries_of_one_slot(80'000, against(known))), 2000u);
  EXPECT_LT(longest(detail::process_salt(), entries_of_one_slot(80'000, unmix64)), 2000u);
  std::vector<std::uint64_t> in_order(80'000);
  std::iota(in_order.begin(), in_order.end(), 1);
  EXPECT_LT(longest(detail::process_salt(), in_order), 2000u);
  for (std::uint64_t& entry : in_order) entry <<= 44;
  EXPECT_LT(longest(detail::process_salt(), in_order), 2000u);
}

TEST(SharedEntrySet, HoldsTheLargestEntryAndNotTheEmptyOne) {
  SharedEntrySet set(no_limit);
  EXPECT_FALSE(contains(set, no_limit));
  EXPECT_EQ(set.insert(no_limit), SharedEntrySet::Outcome::inserted);
  EXPECT_TRUE(contains(set, no_limit));
}

TEST(SharedEntrySet, KeepsWithinItsMemoryAndSaysThatItIsFull) {
  for (const std::uint64_t max_bytes :
       {std::uint64_t{1} << 14, std::uint64_t{1} << 17, std::uint64_t{3} << 20}) {
    SharedEntrySet set(max_bytes);
    std::uint64_t entry = 1;
    while (set.insert(entry) == SharedEntrySet::Outcome::inserted) {
      ASSERT_LE(set.num_bytes(), max_bytes);
      ++entry;
    }
    EXPECT_EQ(set.insert(entry), SharedEntrySet::Outcome::full);
    EXPECT_EQ(set.insert(entry - 1), SharedEntrySet::Outcome::present);
    EXPECT_FALSE(contains(set, entry));
    EXPECT_EQ(set.size(), entry - 1);
    EXPECT_GE(24 * set.size(), max_bytes / 2);
  }
}

TEST(SharedEntrySet, OfThreadsThatInsertAnEntryOneIsToldThatItIsNew) {
  constexpr std::uint64_t num_entries = 100'000;
  SharedEntrySet set(no_limit);
  std::atomic<std::uint64_t> num_inserted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::array<std::uint64_t, 50> entries{};
      std::array<bool, 50> results{};
      for (std::uint64_t first = 1; first <= num_entries; first += entries.size()) {
        for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = first + i;
        set.contains_batch(entries, results);
        for (const std::uint64_t entry : entries)
          num_inserted += set.insert(entry) == SharedEntrySet::Outcome::inserted;
        set.contains_batch(entries, results);
        for (const bool is_there : results) ASSERT_TRUE(is_there);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_inserted, num_entries);
  EXPECT_EQ(set.size(), num_entries);
}

}  // namespace
}  // namespace tally::test

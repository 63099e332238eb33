#include "tally/sketches/counted_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/crafted_keys.hpp"
#include "support/expect_refused.hpp"
#include "support/random.hpp"

namespace tally::test {
namespace {

constexpr detail::ProcessSalt known_salt{1, 3};

/// The lower half of a digest with that upper one, whose search under known_salt begins where the highest bits of `mixed`
/// say.
Hash128 digest_that_mixes_to(std::uint64_t mixed, std::uint64_t high) {
  const std::uint64_t product = mixed * inverse_of(0xd6e8feb86659fd93);
  return {(product ^ (product >> 32)) - 3 * high, high};
}

/// Few of them, and many that begin the search for a slot in the same place.
Hash128 digest_of(std::uint64_t key) { return digest_that_mixes_to((key % 7) << 61 | key, key / 3); }

Hash128 last_home(std::uint64_t key) { return digest_that_mixes_to(~std::uint64_t{0} << 32 | key, 5); }

/// The exact twin: the digest's low half, and its count.
using Twin = std::map<std::uint64_t, std::uint64_t>;

void expect_same(CountedKeys& table, const Twin& twin, std::uint64_t universe) {
  ASSERT_EQ(table.size(), twin.size());
  for (std::uint64_t key = 0; key < universe; ++key) {
    const std::uint32_t i = table.find(digest_of(key));
    const auto found = twin.find(digest_of(key).low);
    ASSERT_EQ(i != CountedKeys::none, found != twin.end()) << key;
    if (i == CountedKeys::none) continue;
    ASSERT_EQ(table[i].count, found->second);
    ASSERT_EQ(table.key_bytes(i), std::to_string(key));
  }
  if (twin.empty()) return;
  const auto least =
      std::min_element(twin.begin(), twin.end(), [](auto& a, auto& b) { return a.second < b.second; });
  ASSERT_EQ(table[table.least()].count, least->second);
}

TEST(CountedKeys, FindsKeysAndTheLeastLikeASlowTwin) {
  constexpr std::uint64_t universe = 120;
  for (const std::uint64_t capacity : {1, 2, 5, 31, 64}) {
    CountedKeys table(capacity, "Test", known_salt);
    Twin twin;
    Random random(capacity);
    for (int step = 0; step < 3000; ++step) {
      const std::uint64_t key = random.below(universe);
      const Hash128 digest = digest_of(key);
      const std::uint64_t weight = random.below(step % 5 == 0 ? 1000 : 3);
      if (const std::uint32_t i = table.find(digest); i != CountedKeys::none) {
        table.raise(i, weight);
        twin.at(digest.low) += weight;
      } else if (!table.is_full()) {
        table.add(std::to_string(key), {digest, weight, 0});
        twin[digest.low] = weight;
      } else {
        const CountedKeys::Entry least = table[table.least()];
        table.replace_least(std::to_string(key), {digest, least.count + weight, 0});
        ASSERT_EQ(twin.erase(least.digest.low), 1u);
        twin[digest.low] = least.count + weight;
      }
      ASSERT_NO_FATAL_FAILURE(expect_same(table, twin, universe)) << "capacity " << capacity;
    }
  }
}

TEST(CountedKeys, ATableThatTakesMoreMemoryAsKeysComeFindsThemAll) {
  for (const std::uint64_t room : {0, 1, 3, 20, 5000}) {
    CountedKeys table = CountedKeys::with_room(room, 3000, "Test");
    CountedKeys copy = table;
    for (std::uint64_t key = 0; key < 3000; ++key) {
      ASSERT_FALSE(table.is_full());
      table.add(std::to_string(key), {{key, 1}, key + 1, 0});
      if (key % 700 == 0) copy = table;
    }
    EXPECT_TRUE(table.is_full());
    EXPECT_EQ(table[table.least()].count, 1u);
    for (std::uint64_t key = 2801; key < 3000; ++key) copy.add(std::to_string(key), {{key, 1}, key + 1, 0});
    EXPECT_EQ(copy.greatest(3000), table.greatest(3000));
    for (std::uint64_t key = 0; key < 3000; ++key) {
      ASSERT_EQ(table.key_bytes(table.find({key, 1})), std::to_string(key));
      ASSERT_EQ(copy.key_bytes(copy.find({key, 1})), std::to_string(key));
    }
    EXPECT_LT(table.longest_search(), 100u);
    EXPECT_EQ(table.num_bytes(), copy.num_bytes());
  }
}

TEST(CountedKeys, ALargeCapacityThatHoldsFewKeysTakesLittleMemory) {
  CountedKeys few = CountedKeys::with_room(2, CountedKeys::max_capacity, "Test");
  for (std::uint64_t key = 0; key < 5; ++key) few.add("x", {{key, 1}, 1, 0});
  EXPECT_LT(few.num_bytes(), 4000u);
  const CountedKeys taken_over(CountedKeys::max_capacity, "Test", {{{1, 1}, 5, 0}}, {"a"}, {{5, 0}});
  EXPECT_LT(taken_over.num_bytes(), 1000u);
}

TEST(CountedKeys, StatesInAdvanceHowMuchMemoryKeysCanTake) {
  for (const std::uint64_t capacity : {1u, 40u, 1000u, 100000u}) {
    CountedKeys table = CountedKeys::with_room(0, capacity, "CountedKeys");
    std::uint64_t num_without_growth = 0;
    for (std::uint64_t next = 0; next < 5000;) {
      const std::uint64_t num_keys = 1 + next % 37;
      const std::uint64_t before = table.num_bytes();
      const std::uint64_t most = table.most_bytes_to_add(num_keys);
      for (std::uint64_t i = 0; i < num_keys; ++i, ++next) {
        if (!table.is_full()) table.add("key", {{next, next}, 1, 0});
      }
      EXPECT_LE(table.num_bytes() - before, most);
      num_without_growth += most == 0 ? 1 : 0;
    }
    EXPECT_GT(num_without_growth, 20u);
    EXPECT_EQ(table.most_bytes_to_add(~std::uint64_t{0}) == 0, table.is_full());
  }
}

TEST(CountedKeys, ASearchGoesOnAtTheFirstSlotAfterTheLast) {
  CountedKeys table(4, "Test", known_salt);
  for (std::uint64_t key = 0; key < 4; ++key) table.add("x", {last_home(key), key + 1, 0});
  for (std::uint64_t key = 0; key < 4; ++key) EXPECT_NE(table.find(last_home(key)), CountedKeys::none);
  table.replace_least("y", {last_home(9), 10, 0});
  EXPECT_EQ(table.find(last_home(0)), CountedKeys::none);
  for (const std::uint64_t key : {1, 2, 3, 9}) EXPECT_NE(table.find(last_home(key)), CountedKeys::none);
}

TEST(CountedKeys, NoChoiceOfDigestsMakesSearchesLong) {
  constexpr std::uint64_t num_keys = 12'000;
  const auto longest = [](detail::ProcessSalt salt, auto digest_of) {
    CountedKeys table(16'384, "Test", salt);
    for (std::uint64_t key = 0; key < num_keys; ++key) table.add("", {digest_of(key), 1, 0});
    return table.longest_search();
  };
  Random random(7);
  const auto of_14_equal_bits = [&](std::uint64_t) {
    const std::uint64_t mixed = random.next() >> 14;
    return digest_that_mixes_to(mixed, random.next());
  };
  const auto of_one_low_half = [](std::uint64_t key) { return Hash128{42, key}; };
  const auto of_one_high_half = [](std::uint64_t key) { return Hash128{key, 42}; };
  const auto of_equal_halves = [](std::uint64_t key) { return Hash128{key << 40, key << 40}; };
  EXPECT_GT(longest(known_salt, of_14_equal_bits),
            num_keys / 2);  // the attack is one, where the salt is known
  // Of random slots, 0.37 of them in use, the longest search is above 200 with a probability below 10^-25.
  const detail::ProcessSalt salt = detail::process_salt();
  EXPECT_LT(longest(salt, of_14_equal_bits), 200u);
  EXPECT_LT(longest(salt, of_one_low_half), 200u);
  EXPECT_LT(longest(salt, of_one_high_half), 200u);
  EXPECT_LT(longest(salt, of_equal_halves), 200u);
}

TEST(CountedKeys, ListsTheGreatestFirstThenLessErrorThenTheBytes) {
  CountedKeys table(10, "Test");
  table.add("b", {{1, 0}, 5, 0});
  table.add("c", {{2, 0}, 7, 1});
  table.add("a", {{3, 0}, 5, 0});
  table.add("d", {{4, 0}, 5, 2});
  std::string order;
  for (const KeyCount& key : table.greatest(10)) order += key.key;
  EXPECT_EQ(order, "cabd");
  order.clear();
  for (const KeyCount& key : table.greatest(2)) order += key.key;
  EXPECT_EQ(order, "ca");
  EXPECT_TRUE(table.greatest(0).empty());
}

TEST(CountedKeys, ACountStaysAtItsMaximum) {
  CountedKeys table(1, "Test");
  table.add("a", {{1, 0}, 5, 0});
  table.raise(0, ~std::uint64_t{0});
  table.raise(0, 3);
  EXPECT_EQ(table[0].count, ~std::uint64_t{0});
}

struct Parts {
  std::vector<CountedKeys::Entry> entries;
  std::vector<std::string> keys;
  std::vector<CountedKeys::HeapNode> heap;
};

Parts parts_of(const CountedKeys& table) {
  Parts parts{
      {table.entries().begin(), table.entries().end()}, {}, {table.heap().begin(), table.heap().end()}};
  for (std::uint32_t i = 0; i < table.size(); ++i) parts.keys.push_back(table.key_bytes(i));
  return parts;
}

CountedKeys restored(const Parts& parts) { return {8, "Test", parts.entries, parts.keys, parts.heap}; }

CountedKeys sample() {
  CountedKeys table(8, "Test");
  for (std::uint64_t key = 0; key < 8; ++key) table.add(std::to_string(key), {{key, 1}, 10 - key, 1});
  table.raise(3, 100);
  return table;
}

TEST(CountedKeys, WhatWasTakenOverDoesWhatTheOtherWould) {
  CountedKeys table = sample();
  CountedKeys copy = restored(parts_of(table));
  for (std::uint64_t key = 20; key < 40; ++key) {
    EXPECT_EQ(copy.least(), table.least());
    for (CountedKeys* one : {&table, &copy}) one->replace_least("n", {{key, 1}, key, 2});
  }
  EXPECT_EQ(copy.greatest(8), table.greatest(8));
}

TEST(CountedKeys, PartsThatDoNotFitAreRefused) {
  const Parts good = parts_of(sample());
  EXPECT_EQ(restored(good).size(), 8u);
  const auto refused = [&](auto change) {
    Parts parts = good;
    change(parts);
    expect_refused([&] { (void)restored(parts); }, {"Test: list of keys is invalid"});
  };
  refused([](Parts& p) { p.keys.pop_back(); });
  refused([](Parts& p) { p.heap.pop_back(); });
  refused([](Parts& p) { p.heap[2].entry = 8; });
  refused([](Parts& p) { p.heap[2].entry = p.heap[1].entry; });
  refused([](Parts& p) { p.heap[0].count = 1000; });
  refused([](Parts& p) { p.heap[7].count = 0; });
  refused([](Parts& p) { p.entries[1].digest = p.entries[0].digest; });
  refused([](Parts& p) { p.entries[1].error = p.entries[1].count + 1; });
  refused([](Parts& p) {
    for (int i = 0; i < 2; ++i) {
      p.entries.push_back({{100 + p.entries.size(), 1}, 200, 0});
      p.keys.emplace_back("x");
      p.heap.push_back({200, static_cast<std::uint32_t>(p.entries.size() - 1)});
    }
  });
}

TEST(CountedKeys, ACapacityOutOfRangeIsRefused) {
  expect_refused([] { CountedKeys(0, "SpaceSaving"); },
                 {"SpaceSaving: capacity is 0; must be 1 to 1073741824"});
  expect_refused([] { CountedKeys((std::uint64_t{1} << 30) + 1, "TopKeys"); }, {"TopKeys: capacity is"});
}

}  // namespace
}  // namespace tally::test

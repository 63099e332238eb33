// Beyond 2^32 positions. Slow, and takes some gigabytes; the small tests below touch a few pages only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "support/filters.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t beyond_32_bits = (std::uint64_t{1} << 33) + 12345;

bool has_free_memory(std::uint64_t num_bytes) {
  return static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
             static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) >
         num_bytes;
}

// Fresh pages come from the kernel when they are touched, so a large array with few counters in use is small.
TEST(LargeStorage, CountersBeyond32BitsAreFoundWhereTheLayoutPutsThem) {
  for (const std::uint32_t bits : {1u, 3u, 5u, 7u}) {
    CounterArray counters(beyond_32_bits, bits);
    const std::uint64_t per_word = 64 / bits;
    for (const std::uint64_t i : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32,
                                  (std::uint64_t{1} << 32) + 1, beyond_32_bits - 2, beyond_32_bits - 1}) {
      counters.increment(i);
      ASSERT_EQ(counters.get(i), 1u);
      ASSERT_NE(counters.words()[i / per_word] >> (i % per_word * bits) & 1, 0u) << i;
    }
    EXPECT_EQ(counters.get(1), 0u);
    EXPECT_EQ(counters.get((std::uint64_t{1} << 32) + 2), 0u);
  }
}

/// All keys are found, every eighth of the array is used, and the false positive rate is the law's.
template <class Filter>
void expect_works(Filter& filter, std::uint64_t num_keys, double num_positions, double k) {
  std::vector<std::uint64_t> keys(100000);
  for (std::uint64_t first = 0; first < num_keys; first += keys.size()) {
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = first + i;
    Subject<Filter>::insert_batch(filter, keys);
  }
  std::uint64_t num_missed = 0;
  for (std::uint64_t first = 0; first < num_keys; first += keys.size()) {
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = first + i;
    const auto found =
        ask_batch(keys.size(), [&](std::span<bool> results) { filter.may_contain_batch(keys, results); });
    num_missed += static_cast<std::uint64_t>(std::ranges::count(found, false));
  }
  EXPECT_EQ(num_missed, 0u);

  const auto words = filter.storage().words();
  const auto eighth = [&](std::uint64_t i) { return words.size() / 8 * i; };
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(std::any_of(words.begin() + static_cast<std::ptrdiff_t>(eighth(i)),
                            words.begin() + static_cast<std::ptrdiff_t>(eighth(i) + 10000),
                            [](std::uint64_t word) { return word != 0; }))
        << "nothing in eighth " << i;
  }

  // One filter this large has the rate of the law to many digits (it varies by less than 1e-4 of it), so the
  // queries are independent: two-sided normal limits of 99.9%.
  constexpr std::uint64_t num_queries = 4000000;
  const double rate = std::pow(-std::expm1(-k * static_cast<double>(num_keys) / num_positions), k);
  std::uint64_t num_found = 0;
  for (std::uint64_t i = 0; i < num_queries; ++i)
    num_found += filter.may_contain((std::uint64_t{1} << 40) + i);
  EXPECT_NEAR(static_cast<double>(num_found), num_queries * rate,
              3.2905 * std::sqrt(num_queries * rate * (1 - rate)));
}

TEST(LargeFilters, SlowABloomFilterBeyond32BitsWorks) {
  if (!has_free_memory(std::uint64_t{3} << 29)) GTEST_SKIP() << "needs 1.5 GiB of free memory";
  BloomFilter<> filter({beyond_32_bits, 2}, 1);
  expect_works(filter, 50000000, static_cast<double>(beyond_32_bits), 2);
}

TEST(LargeFilters, SlowABlockedBloomFilterBeyond32BitsWorks) {
  if (!has_free_memory(std::uint64_t{3} << 29)) GTEST_SKIP() << "needs 1.5 GiB of free memory";
  // One position a key: the blocked law is then the standard one.
  BlockedBloomFilter filter({usable_space<BlockedScheme>(beyond_32_bits, 1).num_positions, 1}, 1);
  expect_works(filter, 50000000, static_cast<double>(beyond_32_bits), 1);
}

TEST(LargeFilters, SlowACountingFilterBeyond32BitsWorks) {
  if (!has_free_memory(std::uint64_t{5} << 30)) GTEST_SKIP() << "needs 5 GiB of free memory";
  CountingBloomFilter<> filter({beyond_32_bits, 2, 4, 1}, 1);
  constexpr std::uint64_t num_keys = 50000000;
  expect_works(filter, num_keys, static_cast<double>(beyond_32_bits), 2);
  const std::vector<std::uint64_t> first_keys = {0, 1, 2};
  std::vector<RemoveResult> results(3);
  filter.remove_batch(first_keys, results);
  EXPECT_EQ(std::ranges::count(results, RemoveResult::removed), 3);
  std::uint64_t num_missed = 0;
  for (std::uint64_t key = 3; key < 1000000; ++key) num_missed += !filter.may_contain(key);
  EXPECT_EQ(num_missed, 0u);
}

}  // namespace
}  // namespace tally::test

// Beyond 2^32 positions. Slow, and takes some gigabytes; the first test touches a few pages only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <vector>

#include "support/filters.hpp"
#include "tally/any_filter.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/register_bloom.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t beyond_32_bits = (std::uint64_t{1} << 33) + 12345;
constexpr std::uint64_t cells_beyond_32_bits = (std::uint64_t{1} << 32) + 12345;

std::uint64_t free_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
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

/// With the most keys that are quickly inserted, and the law of its errors.
struct LargeShape {
  const char* name;
  FilterShape shape;
  std::uint64_t num_keys = 50'000'000;

  double false_positive_rate() const {
    const auto n = static_cast<double>(num_keys);
    if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) {
      const FingerprintSpace space = dleft->fingerprint_space();
      return theory::dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys);
    }
    if (shape.scheme_id == RegisterBlockedScheme::file_id) {
      return theory::register_bloom_false_positive_probability(shape.num_positions() / 512, 8, 64,
                                                               shape.num_hashes(), num_keys);
    }
    // Of a blocked filter with one position a key, and of a sketch with one row, this is the law, too.
    const double k = shape.num_hashes();
    return std::pow(-std::expm1(-k * n / static_cast<double>(shape.num_positions())), k);
  }
};

std::ostream& operator<<(std::ostream& out, const LargeShape& large) { return out << large.name; }

/// Of two subtables the second is used soon; of four the last would not be.
DLeftShape dleft_shape(std::uint32_t remainder_bits) {
  return {.buckets_per_subtable = cells_beyond_32_bits / 16 + 1,
          .num_subtables = 2,
          .cells_per_bucket = 8,
          .remainder_bits = remainder_bits,
          .counter_bits = 2,
          .least_remainder_bits = remainder_bits};
}

std::vector<LargeShape> large_shapes() {
  return {
      {"Bloom", {BloomShape{beyond_32_bits, 2}, DefaultScheme::file_id}},
      {"BlockedBloom",
       {BlockedBloomShape{usable_space<BlockedScheme>(beyond_32_bits, 1).num_positions, 1},
        BlockedScheme::file_id}},
      {"RegisterBlockedBloom",
       {BlockedBloomShape{usable_space<RegisterBlockedScheme>(beyond_32_bits, 8).num_positions, 8},
        RegisterBlockedScheme::file_id}},
      {"CountingBloom", {CountingBloomShape{beyond_32_bits, 2, 4, 1}, DefaultScheme::file_id}},
      {"Threshold", {ThresholdShape{beyond_32_bits, 2, 2, CounterUpdate::plain}, DefaultScheme::file_id}},
      {"ConservativeThreshold",
       {ThresholdShape{beyond_32_bits, 2, 2, CounterUpdate::conservative}, DefaultScheme::file_id}},
      {"DLeftWithVectorLoops", {dleft_shape(14), RotationBuckets::file_id}},
      {"DLeftWithoutVectorLoops", {dleft_shape(6), RotationBuckets::file_id}, 20'000'000},
      {"CountMin",
       {CountMinShape{.width = cells_beyond_32_bits, .depth = 1, .counter_bits = 8}, DefaultRows::file_id}}};
}

class LargeFilters : public testing::TestWithParam<LargeShape> {
 protected:
  static constexpr std::size_t batch = 100'000;

  void SetUp() override {
    const std::uint64_t needed = GetParam().shape.num_bytes() + (std::uint64_t{1} << 29);
    if (free_memory() < needed) {
      GTEST_SKIP() << "needs " << (needed >> 20) << " MiB of free memory, there are "
                   << (free_memory() >> 20);
    }
    filter = std::make_unique<AnyFilter>(GetParam().shape, KeyHasher(1));
  }

  std::vector<Hash128> digests(std::uint64_t first, std::uint64_t count = batch) const {
    std::vector<Hash128> digests(count);
    for (std::uint64_t i = 0; i < count; ++i) digests[i] = filter->hasher()(first + i);
    return digests;
  }

  /// As often as it takes to be found.
  void insert(const std::vector<Hash128>& keys) {
    const std::uint64_t times = filter->has_threshold() ? *GetParam().shape.made_for_theta() : 1;
    for (std::uint64_t i = 0; i < times; ++i) ASSERT_EQ(filter->insert_batch(keys), 0u) << "full";
  }

  std::uint64_t num_found(const std::vector<Hash128>& keys) const {
    const auto found =
        ask_batch(keys.size(), [&](std::span<bool> results) { filter->may_contain_batch(keys, results); });
    return static_cast<std::uint64_t>(std::ranges::count(found, true));
  }

  /// The same by calls of one key.
  std::uint64_t num_found_alone(const std::vector<Hash128>& keys) const {
    return filter->visit([&](const auto& inside) {
      return static_cast<std::uint64_t>(std::ranges::count_if(keys, [&](Hash128 key) {
        if constexpr (requires { inside.at_least(key); }) {
          return inside.at_least(key);
        } else if constexpr (requires { inside.may_contain(key); }) {
          return inside.may_contain(key);
        } else {
          return inside.count(key).value > 0;
        }
      }));
    });
  }

  std::unique_ptr<AnyFilter> filter;
};

TEST_P(LargeFilters, SlowBeyond32BitsEveryKeyIsFoundAndTheRateIsTheLaws) {
  const std::uint64_t num_keys = GetParam().num_keys;
  for (std::uint64_t first = 0; first < num_keys; first += batch)
    ASSERT_NO_FATAL_FAILURE(insert(digests(first)));
  std::uint64_t num_missed = 0;
  for (std::uint64_t first = 0; first < num_keys; first += batch)
    num_missed += batch - num_found(digests(first));
  EXPECT_EQ(num_missed, 0u);
  EXPECT_EQ(num_found_alone(digests(0)), batch);

  const auto words = filter->words();
  for (std::uint64_t i = 0; i < 8; ++i) {
    const auto eighth = words.subspan(words.size() / 8 * i, 10'000);
    EXPECT_TRUE(std::ranges::any_of(eighth, [](std::uint64_t word) { return word != 0; })) << "eighth " << i;
  }

  // One filter this large has the rate of the law to many digits (it varies by less than 1e-4 of it), so the
  // queries are independent: two-sided normal limits of 99.9%.
  constexpr std::uint64_t num_queries = 4'000'000;
  std::uint64_t num_false = 0;
  for (std::uint64_t i = 0; i < num_queries; i += batch) {
    const std::vector<Hash128> absent = digests((std::uint64_t{1} << 40) + i);
    const std::uint64_t found = num_found(absent);
    ASSERT_EQ(num_found_alone(absent), found);
    num_false += found;
  }
  const double rate = GetParam().false_positive_rate();
  EXPECT_NEAR(static_cast<double>(num_false), num_queries * rate,
              3.2905 * std::sqrt(num_queries * rate * (1 - rate)));

  if (!filter->can_remove()) return;
  std::vector<RemoveResult> results(batch);
  filter->remove_batch(digests(0), results);
  EXPECT_EQ(std::ranges::count(results, RemoveResult::removed), batch);
  EXPECT_LE(num_found(digests(0)), batch / 10);
  EXPECT_EQ(num_found(digests(batch, 10 * batch)), 10 * batch);
}

INSTANTIATE_TEST_SUITE_P(EveryKind, LargeFilters, testing::ValuesIn(large_shapes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tally::test

// How often d-left filters of few buckets are full, without moves, against the exact chain and what the planner promises.

#include "tally/theory/dleft_few_buckets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "random.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/theory/confidence.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t replacements_per_key = 5;
constexpr double promised_chance = 0.2;

DLeftShape shape_without_moves(std::uint32_t d, std::uint64_t num_buckets, std::uint32_t c,
                               std::uint32_t remainder_bits) {
  return {.buckets_per_subtable = num_buckets,
          .num_subtables = d,
          .cells_per_bucket = c,
          .remainder_bits = remainder_bits,
          .counter_bits = 2,
          .least_remainder_bits = remainder_bits,
          .moves = DLeftMoves::none};
}

/// The probability, as planned, that any insertion of a life is refused.
double planned_chance(const DLeftShape& shape, std::uint64_t num_keys, bool is_replaced) {
  const double load = theory::dleft_distinct_load(shape.num_subtables, shape.buckets_per_subtable,
                                                  shape.fingerprint_space().num_remainders(), num_keys);
  return planned_dleft_failure_probability(
      shape.num_subtables, shape.buckets_per_subtable, shape.cells_per_bucket, num_keys,
      is_replaced ? replacements_per_key * num_keys : 0, std::fmin(1, load / shape.cells_per_bucket));
}

/// The most keys with which this chance is at most the promised one. With more than a quarter of the fingerprints in use,
/// counts would overflow, too.
std::uint64_t most_keys(const DLeftShape& shape, bool is_replaced) {
  std::uint64_t low = 1;
  auto high = static_cast<std::uint64_t>(std::fmin(shape.fingerprint_space().num_fingerprints() / 4,
                                                   static_cast<double>(2 * shape.num_cells())));
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (planned_chance(shape, middle, is_replaced) <= promised_chance ? low : high) = middle;
  }
  return low;
}

template <class Buckets>
bool is_full_at_any_time(const DLeftShape& shape, std::uint64_t num_keys, std::uint64_t num_replacements,
                         Random& random) {
  DLeftCountingBloomFilter<Buckets> filter(shape, random.next());
  std::vector<Hash128> keys;
  while (keys.size() < num_keys) {
    if (filter.insert(keys.emplace_back(random.digest())) == InsertResult::full) return true;
  }
  for (std::uint64_t i = 0; i < num_replacements; ++i) {
    Hash128& key = keys[random.below(keys.size())];
    EXPECT_EQ(filter.remove(key), RemoveResult::removed);
    if (filter.insert(key = random.digest()) == InsertResult::full) return true;
  }
  return false;
}

/// The number of trials in which a filter is full at any time.
template <class Buckets>
std::uint64_t num_full(const DLeftShape& shape, std::uint64_t num_keys, bool is_replaced,
                       std::uint64_t num_trials, Random& random) {
  std::uint64_t num_full = 0;
  for (std::uint64_t i = 0; i < num_trials; ++i) {
    num_full += is_full_at_any_time<Buckets>(shape, num_keys,
                                             is_replaced ? replacements_per_key * num_keys : 0, random)
                    ? 1
                    : 0;
  }
  return num_full;
}

template <class Buckets>
class FewBuckets : public testing::Test {
 protected:
  /// One-sided: fails with a probability below 5e-5 if the promise just holds.
  void expect_full_at_most_as_planned(const DLeftShape& shape, std::uint64_t num_trials, Random& random) {
    for (const bool is_replaced : {false, true}) {
      const std::uint64_t num_keys = most_keys(shape, is_replaced);
      const std::uint64_t found = num_full<Buckets>(shape, num_keys, is_replaced, num_trials, random);
      EXPECT_LE(theory::binomial_confidence_limits(found, num_trials, 0.9999).low,
                planned_chance(shape, num_keys, is_replaced))
          << shape.num_subtables << " x " << shape.cells_per_bucket << ", " << shape.buckets_per_subtable
          << " buckets, " << shape.remainder_bits << " bits, " << num_keys << " keys, " << is_replaced << ": "
          << found << " of " << num_trials;
    }
  }
};
using BucketSchemes = testing::Types<RotationBuckets, MultiplierBuckets>;
TYPED_TEST_SUITE(FewBuckets, BucketSchemes);

TYPED_TEST(FewBuckets, OfRealFiltersAreFullAsOftenAsTheChainSays) {
  Random random(12);
  struct Case {
    std::uint32_t d;
    std::uint64_t num_buckets;
    std::uint32_t c;
    std::uint64_t num_keys;
  };
  for (const auto& [d, num_buckets, c, num_keys] :
       {Case{2, 2, 8, 31}, Case{2, 4, 8, 60}, Case{3, 2, 8, 47}, Case{2, 2, 32, 127}}) {
    const DLeftShape shape = shape_without_moves(d, num_buckets, c, 30);
    const double chance = theory::dleft_any_overflow_filling(d, num_buckets, c, num_keys);
    constexpr std::uint64_t num_trials = 8000;
    const std::uint64_t found = num_full<TypeParam>(shape, num_keys, false, num_trials, random);
    // Two-sided: fails with a probability below 1e-4 by chance.
    const auto limits = theory::binomial_confidence_limits(found, num_trials, 0.9999);
    EXPECT_LE(limits.low, chance) << d << " x " << c << ", " << num_buckets << " buckets: " << found;
    EXPECT_GE(limits.high, chance) << d << " x " << c << ", " << num_buckets << " buckets: " << found;
    EXPECT_GT(chance, 0.02);
    EXPECT_LT(chance, 0.8);
  }
}

TYPED_TEST(FewBuckets, OfRealFiltersAreFullAtMostAsOftenAsPlanned) {
  Random random(11);
  struct Layout {
    std::uint32_t d;
    std::uint32_t c;
  };
  for (const Layout layout : {Layout{2, 8}, Layout{3, 8}, Layout{4, 8}, Layout{2, 32}, Layout{4, 32}}) {
    for (const std::uint64_t num_buckets : {1ull, 2ull, 4ull, 16ull, 64ull, 1024ull}) {
      if (num_buckets > 64 && layout.c > 8) continue;
      const std::uint64_t num_trials = num_buckets > 64 ? 4 : num_buckets > 4 ? 40 : 200;
      for (const std::uint32_t remainder_bits : {6u, 14u}) {
        this->expect_full_at_most_as_planned(
            shape_without_moves(layout.d, num_buckets, layout.c, remainder_bits), num_trials, random);
      }
    }
  }
}

TYPED_TEST(FewBuckets, SlowOfRealFiltersAreFullAtMostAsOftenAsPlannedUpToAMillionBuckets) {
  Random random(13);
  for (const std::uint64_t num_buckets : {256ull, 1024ull, 1ull << 14, 1ull << 20}) {
    for (const std::uint32_t d : {2u, 4u}) {
      const std::uint64_t num_trials = num_buckets > 1u << 14 ? 8 : num_buckets > 1024 ? 40 : 400;
      this->expect_full_at_most_as_planned(shape_without_moves(d, num_buckets, 8, 22), num_trials, random);
    }
  }
}

}  // namespace
}  // namespace tally::test

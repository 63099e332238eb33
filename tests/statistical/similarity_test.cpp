// The limits of estimate_similarity contain the truth as often as they say.
//
// Each trial: two fresh filters of random keys, of which some are in both; the number of trials in which the truth is
// between the limits of 95% is binomial. All cells together at 99.9% two-sided, with half a percent for the normal
// distribution, which the estimates have only in the limit.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/measured_rate.hpp"
#include "support/random.hpp"
#include "support/sample_filters.hpp"
#include "tally/any_filter/similarity.hpp"
#include "tally/theory/confidence.hpp"

namespace tally::test {
namespace {

constexpr double confidence = 0.95;
constexpr double slack = 0.005;
constexpr std::uint64_t num_trials_of_a_cell = 1500;

struct Sizes {
  std::uint64_t only_a;
  std::uint64_t only_b;
  std::uint64_t both;
};

struct Hits {
  const char* name;
  LimitedEstimate SetSimilarity::*estimate;
  double truth;
  std::uint64_t num_inside = 0;
};

void expect_coverage(const FilterShape& shape, const Sizes& sizes, std::uint64_t seed) {
  const auto a = static_cast<double>(sizes.only_a + sizes.both);
  const auto b = static_cast<double>(sizes.only_b + sizes.both);
  const auto z = static_cast<double>(sizes.both);
  std::vector<Hits> all{{"num_keys_a", &SetSimilarity::num_keys_a, a},
                        {"num_keys_b", &SetSimilarity::num_keys_b, b},
                        {"union_size", &SetSimilarity::union_size, a + b - z},
                        {"intersection_size", &SetSimilarity::intersection_size, z},
                        {"jaccard", &SetSimilarity::jaccard, z / (a + b - z)},
                        {"containment_a", &SetSimilarity::containment_a, z / a},
                        {"containment_b", &SetSimilarity::containment_b, z / b}};
  Random random(seed);
  const auto digests = [&](std::uint64_t count) {
    std::vector<Hash128> keys(count);
    for (Hash128& key : keys) key = random.digest();
    return keys;
  };
  for (std::uint64_t trial = 0; trial < num_trials_of_a_cell; ++trial) {
    AnyFilter first(shape, random.next());
    AnyFilter second(shape, first.hasher());
    const std::vector<Hash128> common = digests(sizes.both);
    insert_all(first, common);
    insert_all(second, common);
    insert_all(first, digests(sizes.only_a));
    insert_all(second, digests(sizes.only_b));
    const SetSimilarity found = estimate_similarity(first, second, confidence);
    for (Hits& hits : all) {
      const LimitedEstimate& limits = found.*hits.estimate;
      hits.num_inside += limits.low <= hits.truth && hits.truth <= limits.high;
    }
  }
  const double each = theory::per_test_confidence(0.999, 7 * 20);
  const auto least = theory::binomial_acceptance_interval(confidence - slack, num_trials_of_a_cell, each).low;
  const auto most = theory::binomial_acceptance_interval(confidence + slack, num_trials_of_a_cell, each).high;
  for (const Hits& hits : all) {
    EXPECT_GE(hits.num_inside, least) << describe(shape) << ": " << hits.name << " " << hits.truth;
    EXPECT_LE(hits.num_inside, most) << describe(shape) << ": " << hits.name << " " << hits.truth;
  }
}

constexpr Sizes much_in_common{500, 1000, 1500};
constexpr Sizes little_in_common{1500, 1500, 200};

void expect_coverage_of_both(const FilterShape& shape, std::uint64_t seed) {
  expect_coverage(round_to_scheme(shape, Rounding::up), much_in_common, seed);
  expect_coverage(round_to_scheme(shape, Rounding::up), little_in_common, seed + 1);
}

TEST(SimilarityLimits, HoldForBloomFilters) {
  expect_coverage_of_both({BloomShape{15'000, 4}, DefaultScheme::file_id}, 1);
  expect_coverage_of_both({BloomShape{15'000, 4}, PartitionedScheme::file_id}, 3);
}

TEST(SimilarityLimits, HoldForBlockedBloomFilters) {
  expect_coverage_of_both({BlockedBloomShape{15'000, 4}, BlockedScheme::file_id}, 5);
  // With many hashes it matters that the positions of a key share a line: limits that ignore it are too narrow.
  expect_coverage_of_both({BlockedBloomShape{60'000, 16}, BlockedScheme::file_id}, 13);
}

TEST(SimilarityLimits, HoldForRegisterBlockedBloomFilters) {
  expect_coverage_of_both({BlockedBloomShape{30'000, 8}, RegisterBlockedScheme::file_id}, 15);
  expect_coverage_of_both({BlockedBloomShape{60'000, 24}, RegisterBlockedScheme::file_id}, 17);
}

TEST(SimilarityLimits, HoldForCountingBloomFilters) {
  expect_coverage_of_both({CountingBloomShape{15'000, 4}, DefaultScheme::file_id}, 7);
}

TEST(SimilarityLimits, HoldForBlockedCountingBloomFilters) {
  expect_coverage_of_both({BlockedCountingBloomShape{15'000, 4}, BlockedScheme::file_id}, 15);
}

TEST(SimilarityLimits, HoldForDLeftFilters) {
  expect_coverage_of_both({DLeftShape{.buckets_per_subtable = 160,
                                      .num_subtables = 4,
                                      .cells_per_bucket = 8,
                                      .remainder_bits = 6,
                                      .counter_bits = 2,
                                      .least_remainder_bits = 6},
                           RotationBuckets::file_id},
                          9);
}

TEST(SimilarityLimits, HoldForCountMinSketches) {
  expect_coverage_of_both(
      {CountMinShape{.width = 4000, .depth = 4, .counter_bits = 16}, DefaultRows::file_id}, 11);
}

}  // namespace
}  // namespace tally::test

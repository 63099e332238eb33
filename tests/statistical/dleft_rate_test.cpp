// The d-left filter measured against its theory: false positive rates, the loads of its buckets, and what it says
// of itself. Fresh filters of random keys; fixed seeds; 99.9% two-sided for all cells of a test together.

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <memory>
#include <numeric>

#include "support/dleft.hpp"
#include "support/dleft_rates.hpp"
#include "support/expect_rates.hpp"
#include "support/filters.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"

namespace tally::test {
namespace {

template <class Filter>
void insert_all_of(Filter& filter, const std::vector<Hash128>& keys) {
  const auto results = std::make_unique<InsertResult[]>(keys.size());
  filter.insert_batch(keys, {results.get(), keys.size()});
  const auto num_full = std::count(results.get(), results.get() + keys.size(), InsertResult::full);
  ASSERT_EQ(num_full, 0) << "the load is too high for this test";
}

std::vector<Hash128> random_keys(std::uint64_t num_keys, Random& random) {
  std::vector<Hash128> keys(num_keys);
  for (Hash128& digest : keys) digest = random.digest();
  return keys;
}

/// Small tables, remainders with and without bits to spare for doublings, B no power of two where the scheme can.
template <class Scheme>
std::vector<DLeftShape> shapes() {
  std::vector<DLeftShape> all = small_dleft_shapes();
  std::erase_if(all, [](const DLeftShape& shape) { return shape.num_subtables == 1; });  // soon full
  for (DLeftShape& shape : all) {
    shape.spill_capacity = 1000;
    shape.moves = DLeftMoves::search;
    if (Scheme::round_buckets(3, Rounding::up) == 3)
      shape.buckets_per_subtable += shape.buckets_per_subtable / 3;
  }
  return all;
}

template <class Scheme>
std::vector<Cell> false_positive_cells(std::uint32_t num_doublings, std::uint64_t seed) {
  std::vector<Cell> cells;
  Random random(seed);
  for (const DLeftShape& shape : shapes<Scheme>()) {
    if (shape.remainder_bits - shape.least_remainder_bits < num_doublings) continue;
    for (const double load : {0.2, 0.5, 0.7}) {
      const auto num_keys = static_cast<std::uint64_t>(load * static_cast<double>(shape.num_cells()));
      const double predicted = predicted_rate(shape, num_keys);
      if (predicted < least_tested_probability) continue;
      MeasuredRate measured(usual_num_queries);
      for (std::uint64_t i = 0; i < num_trials(200); ++i) {
        DLeftCountingBloomFilter<Scheme> filter(shape, random.next());
        insert_all_of(filter, random_keys(num_keys, random));
        for (std::uint32_t j = 0; j < num_doublings; ++j) EXPECT_TRUE(filter.try_grow());
        const auto absent = random_keys(usual_num_queries, random);
        const auto found = ask_batch(
            usual_num_queries, [&](std::span<bool> results) { filter.may_contain_batch(absent, results); });
        measured.add_filter(static_cast<std::uint64_t>(std::ranges::count(found, true)));
      }
      cells.push_back({"d " + std::to_string(shape.num_subtables) + " c " +
                           std::to_string(shape.cells_per_bucket) + " r " +
                           std::to_string(shape.remainder_bits) + " load " + std::to_string(load),
                       predicted, measured});
    }
  }
  return cells;
}

TEST(DLeftRate, FalsePositivesOfRotationsFollowTheFormula) {
  expect_predicted(false_positive_cells<RotationBuckets>(0, 1));
}

TEST(DLeftRate, FalsePositivesOfMultipliersFollowTheFormula) {
  expect_predicted(false_positive_cells<MultiplierBuckets>(0, 2));
}

TEST(DLeftRate, DoublingsDoNotChangeTheRate) {
  expect_predicted(false_positive_cells<RotationBuckets>(2, 3));
}

constexpr DLeftShape paper_shape{.buckets_per_subtable = 2048};  // 4 x 8 cells of 14 + 2 bits

/// Means over trials of the shares of buckets with at least i cells in use, and their standard errors.
struct Shares {
  std::vector<double> mean, error;
};

template <class Trial>
Shares shares_of(std::uint64_t trials, std::uint32_t cells_per_bucket, Trial trial) {
  std::vector<double> sum(cells_per_bucket + 1), squares(cells_per_bucket + 1);
  for (std::uint64_t i = 0; i < trials; ++i) {
    const DLeftTableStatistics table = trial().statistics().table;
    std::uint64_t num_buckets = 0, num_at_least = 0;
    for (const auto& loads : table.loads)
      num_buckets += std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
    for (std::uint32_t load = cells_per_bucket; load > 0; --load) {
      for (const auto& loads : table.loads) num_at_least += loads[load];
      const double share = static_cast<double>(num_at_least) / static_cast<double>(num_buckets);
      sum[load] += share;
      squares[load] += share * share;
    }
  }
  Shares shares{sum, sum};
  const auto n = static_cast<double>(trials);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    shares.mean[i] /= n;
    shares.error[i] = std::sqrt(std::max(0.0, squares[i] / n - shares.mean[i] * shares.mean[i]) / (n - 1));
  }
  return shares;
}

/// Number of standard errors with which this many two-sided normal tests together have 99.9%.
double normal_limit(double num_tests) {
  return quantile(complement(boost::math::normal(), (1 - family_confidence) / num_tests / 2));
}

double distinct_load(const DLeftShape& shape, std::uint64_t num_keys) {
  const FingerprintSpace space = shape.fingerprint_space();
  return theory::dleft_distinct_load(shape.num_subtables, space.num_buckets, space.num_remainders(),
                                     num_keys);
}

// Table 1 of the paper, with few steps; loads 1 and 2 are so rarely missed that their share has no normal law.
TEST(DLeftRate, LoadsUnderChurnFollowTheFluidLimitOfDistinctFingerprints) {
  Random random(4);
  const std::uint64_t num_keys = 49152, num_steps = 1 << 16;
  const Shares shares = shares_of(num_trials(60), 8, [&] {
    DLeftCountingBloomFilter<MultiplierBuckets> filter(paper_shape, random.next());
    std::vector<Hash128> keys = random_keys(num_keys, random);
    insert_all_of(filter, keys);
    for (std::uint64_t i = 0; i < num_steps; ++i) {
      Hash128& key = keys[random.below(num_keys)];
      EXPECT_EQ(filter.remove(key), RemoveResult::removed);
      key = random.digest();
      EXPECT_EQ(filter.insert(key), InsertResult::counted);
    }
    return filter;
  });
  const auto predicted = theory::dleft_loads(4, distinct_load(paper_shape, num_keys),
                                             static_cast<double>(num_steps) / static_cast<double>(num_keys));
  for (std::uint32_t i = 3; i <= 8; ++i) {
    EXPECT_LT(std::abs(shares.mean[i] - predicted.fraction(i)), normal_limit(6) * shares.error[i])
        << "load >= " << i << ": predicted " << predicted.fraction(i) << ", measured " << shares.mean[i];
  }
}

// Remainders of 10 bits: one key in 85 shares a fingerprint, so the load of all keys is distinguishable. With many more
// shared ones the fluid limit itself would be off: it takes the choices of new keys for independent of those in
// the table, and a fingerprint that is there is none to choose.
TEST(DLeftRate, KeysThatShareAFingerprintShareACell) {
  Random random(5);
  DLeftShape shape = paper_shape;
  shape.remainder_bits = shape.least_remainder_bits = 10;
  const std::uint64_t num_keys = 49152;
  const Shares shares = shares_of(num_trials(60), 8, [&] {
    DLeftCountingBloomFilter<> filter(shape, random.next());
    insert_all_of(filter, random_keys(num_keys, random));
    return filter;
  });
  const auto predicted = theory::dleft_loads(4, distinct_load(shape, num_keys), theory::insert_only);
  const auto of_all_keys = theory::dleft_loads(4, 6, theory::insert_only);
  for (std::uint32_t i = 4; i <= 7; ++i) {
    EXPECT_LT(std::abs(shares.mean[i] - predicted.fraction(i)), normal_limit(4) * shares.error[i])
        << "load >= " << i << ": predicted " << predicted.fraction(i) << ", measured " << shares.mean[i];
  }
  EXPECT_GT(std::abs(shares.mean[7] - of_all_keys.fraction(7)), 10 * shares.error[7]);
}

TEST(DLeftRate, TheFalsePositiveRateStatedIsTheOneMeasuredInThisVeryFilter) {
  Random random(6);
  constexpr std::uint64_t num_asked = 20000;
  double num_tests = 0;
  for (const DLeftShape& shape : shapes<RotationBuckets>()) num_tests += predicted_rate(shape, 100) >= 1e-4;
  for (const DLeftShape& shape : shapes<RotationBuckets>()) {
    if (predicted_rate(shape, 100) < 1e-4) continue;
    double expected = 0, variance = 0;
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < num_trials(50); ++i) {
      DLeftCountingBloomFilter<> filter(shape, random.next());
      insert_all_of(filter, random_keys(shape.num_cells() / 2, random));
      const double rate = filter.statistics().table.false_positive_rate;
      expected += num_asked * rate;
      variance += num_asked * rate * (1 - rate);
      const auto absent = random_keys(num_asked, random);
      const auto results =
          ask_batch(num_asked, [&](std::span<bool> each) { filter.may_contain_batch(absent, each); });
      found += static_cast<std::uint64_t>(std::ranges::count(results, true));
    }
    EXPECT_GE(expected, 100.0);
    EXPECT_LT(std::abs(static_cast<double>(found) - expected), normal_limit(num_tests) * std::sqrt(variance))
        << "d " << shape.num_subtables << " r " << shape.remainder_bits << ": expected " << expected
        << ", found " << found;
  }
}

// Errors in units of the stated standard error have mean 0 and variance 1. A few thousand keys share some hundred
// fingerprints, so that the normal law holds.
TEST(DLeftRate, DistinctKeysAreOffByTheStatedStandardError) {
  Random random(7);
  const DLeftShape shape{
      .buckets_per_subtable = 256, .remainder_bits = 6, .least_remainder_bits = 6, .spill_capacity = 1000};
  const std::uint64_t num_filters = num_trials(400);
  for (const std::uint64_t num_keys : {2000, 4000, 6000}) {
    double sum = 0, squares = 0;
    for (std::uint64_t i = 0; i < num_filters; ++i) {
      DLeftCountingBloomFilter<> filter(shape, random.next());
      insert_all_of(filter, random_keys(num_keys, random));
      const FilterStatistics statistics = filter_statistics(shape, filter.statistics());
      const double error = (statistics.estimated_num_keys - static_cast<double>(num_keys)) /
                           statistics.estimated_num_keys_standard_error;
      sum += error;
      squares += error * error;
    }
    const auto filters = static_cast<double>(num_filters);
    EXPECT_LT(std::abs(sum / std::sqrt(filters)), normal_limit(6))
        << num_keys << " keys, mean " << sum / filters;
    const boost::math::chi_squared law(filters);
    EXPECT_GT(squares, quantile(law, 0.001 / 6 / 2)) << num_keys << " keys";
    EXPECT_LT(squares, quantile(complement(law, 0.001 / 6 / 2))) << num_keys << " keys";
  }
}

}  // namespace
}  // namespace tally::test

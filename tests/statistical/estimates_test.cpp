// What filters say of themselves, against the truth: distinct keys with their standard error, and the
// false positive rate as it stands. Fresh filters of random keys; fixed seeds; 99.9% two-sided a test.

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "support/filters.hpp"
#include "support/measured_rate.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t m = 15360;  // whole lines of 512 bits and of 128 counters, equal parts for k = 5

/// Number of standard errors that keep four two-sided normal tests together at 99.9%.
double normal_limit() { return quantile(complement(boost::math::normal(), (1 - family_confidence) / 4 / 2)); }

template <class Filter>
class Estimates : public testing::Test {};
using FiltersWithALaw =
    testing::Types<BloomFilter<CongruentialScheme>, BloomFilter<BlockedScheme>, BloomFilter<StandardScheme>,
                   BloomFilter<PartitionedScheme>, CountingBloomFilter<CongruentialScheme>,
                   CountingBloomFilter<BlockedScheme>, CountingBloomFilter<PartitionedScheme>,
                   BloomFilter<RegisterBlockedScheme>, CountingBloomFilter<RegisterBlockedScheme>>;
TYPED_TEST_SUITE(Estimates, FiltersWithALaw, FilterNames);

template <class Filter>
Filter filled(std::uint64_t num_keys, Random& random) {
  const auto shapes = Subject<Filter>::shapes(m, 5);
  Filter filter(shapes[shapes.size() == 1 ? 0 : 3], 0);  // 4-bit counters
  for (std::uint64_t i = 0; i < num_keys; ++i) filter.insert(random.digest());
  return filter;
}

// Errors in units of the stated standard error have mean 0 and variance 1: four loads, two tests each.
TYPED_TEST(Estimates, DistinctKeysAreOffByTheStatedStandardError) {
  const std::uint64_t num_filters = num_trials(500);
  Random random(1);
  for (const std::uint64_t num_keys : {300, 1500, 3000, 5000}) {
    double sum = 0;
    double sum_of_squares = 0;
    for (std::uint64_t i = 0; i < num_filters; ++i) {
      const FilterStatistics statistics = filled<TypeParam>(num_keys, random).statistics();
      const double error = (statistics.estimated_num_keys - static_cast<double>(num_keys)) /
                           statistics.estimated_num_keys_standard_error;
      sum += error;
      sum_of_squares += error * error;
    }
    const auto filters = static_cast<double>(num_filters);
    EXPECT_LT(std::abs(sum / std::sqrt(filters)), normal_limit())
        << num_keys << " keys, mean " << sum / filters;
    const boost::math::chi_squared law(filters);
    EXPECT_GT(sum_of_squares, quantile(law, 0.001 / 4 / 2)) << num_keys << " keys";
    EXPECT_LT(sum_of_squares, quantile(complement(law, 0.001 / 4 / 2))) << num_keys << " keys";
  }
}

// Given the filter, queries for random keys are independent, each positive with the rate stated: the
// total is off from the sum of the stated rates by a normal error of known variance.
TYPED_TEST(Estimates, TheFalsePositiveRateIsTheOneMeasuredInThisVeryFilter) {
  Random random(2);
  constexpr std::uint64_t num_queries = 5000;
  for (const std::uint64_t num_keys : {1000, 2000, 3000, 5000}) {
    double expected = 0;
    double variance = 0;
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < num_trials(50); ++i) {
      const TypeParam filter = filled<TypeParam>(num_keys, random);
      const double rate = filter.statistics().estimated_false_positive_rate;
      expected += num_queries * rate;
      variance += num_queries * rate * (1 - rate);
      for (std::uint64_t query = 0; query < num_queries; ++query)
        found += filter.may_contain(random.digest());
    }
    EXPECT_GE(expected, 100.0);
    EXPECT_LT(std::abs(static_cast<double>(found) - expected), normal_limit() * std::sqrt(variance))
        << num_keys << " keys: expected " << expected << ", found " << found;
  }
}

TEST(ThresholdEstimates, TheRateStatedIsTheOneAtTheThreshold) {
  Random random(3);
  constexpr std::uint64_t num_queries = 20000;
  for (const std::uint64_t theta : {1, 2, 3, 5}) {
    ThresholdFilter<> filter({m, 3, theta}, 0);
    for (std::uint64_t i = 0; i < 3000 * theta; ++i) (void)filter.insert(random.digest());
    const double rate = filter.statistics().estimated_false_positive_rate;
    std::uint64_t found = 0;
    for (std::uint64_t query = 0; query < num_queries; ++query) found += filter.at_least(random.digest());
    EXPECT_GE(num_queries * rate, 20.0);
    EXPECT_LT(std::abs(static_cast<double>(found) - num_queries * rate),
              normal_limit() * std::sqrt(num_queries * rate * (1 - rate)))
        << theta;
  }
}

}  // namespace
}  // namespace tally::test

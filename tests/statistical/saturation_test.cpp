// Counters that stay at their maximum while keys are replaced, against theory/counter_saturation.hpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/counter_saturation.hpp"
#include "tally/theory/tails.hpp"

namespace tally::test {
namespace {

/// A filter whose keys are replaced. Each is in it `times` times.
template <class Filter, class Shape>
class Churn {
 public:
  Churn(const Shape& shape, std::uint64_t num_keys, std::uint64_t seed, int times = 1)
      : filter_(shape, seed), random_(seed), times_(times) {
    for (std::uint64_t i = 0; i < num_keys; ++i) insert(keys_.emplace_back(random_.digest()));
  }

  void replace_random(std::uint64_t num_replacements) {
    for (std::uint64_t i = 0; i < num_replacements; ++i) replace(keys_[random_.below(keys_.size())]);
  }
  /// Always the oldest key.
  void replace_oldest(std::uint64_t num_replacements) {
    for (std::uint64_t i = 0; i < num_replacements; ++i) replace(keys_[i % keys_.size()]);
  }

  std::uint64_t num_saturated() const { return filter_.statistics().num_saturated; }

  double false_positive_rate(std::uint64_t num_queries) {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < num_queries; ++i) found += filter_.may_contain(random_.digest());
    return static_cast<double>(found) / static_cast<double>(num_queries);
  }

 private:
  void insert(const Hash128& key) {
    for (int i = 0; i < times_; ++i) (void)filter_.insert(key);
  }
  void replace(Hash128& key) {
    for (int i = 0; i < times_; ++i) EXPECT_NE(filter_.remove(key), RemoveResult::refused);
    key = random_.digest();
    insert(key);
  }

  Filter filter_;
  Random random_;
  int times_;
  std::vector<Hash128> keys_;
};

using Plain = Churn<CountingBloomFilter<>, CountingBloomShape>;
using InLines = Churn<BlockedCountingBloomFilter, BlockedCountingBloomShape>;

/// 4 standard deviations: each limit fails by chance once in 30,000 times.
constexpr double most_deviations = 4;

void expect_at_most(double found, double bound) {
  EXPECT_LE(found, bound + most_deviations * std::sqrt(bound));
}
/// At most the bound, and at least this share of it.
void expect_near_bound(double found, double bound, double least_share) {
  expect_at_most(found, bound);
  EXPECT_GE(found, least_share * bound - most_deviations * std::sqrt(bound));
}

constexpr std::uint64_t num_counters = 1 << 15;

struct Load {
  std::uint32_t counter_bits;
  double kappa;
  double replacements_per_key;
};

TEST(Saturation, ReplacementsOfRandomKeysSaturateTheShareThatTheQueuePredicts) {
  for (const Load& load : {Load{2, 0.3, 8}, Load{2, 0.7, 1}, Load{3, 0.7, 80}, Load{4, 4.0, 20}}) {
    const std::uint32_t k = 4;
    const auto num_keys = static_cast<std::uint64_t>(load.kappa * static_cast<double>(num_counters) / k);
    const auto num_replacements =
        static_cast<std::uint64_t>(load.replacements_per_key * static_cast<double>(num_keys));
    const std::uint64_t full = (1u << load.counter_bits) - 1;
    constexpr int num_filters = 4;
    double found = 0;
    for (std::uint64_t seed = 1; seed <= num_filters; ++seed) {
      Plain churn({num_counters, k, load.counter_bits, 1}, num_keys, seed);
      churn.replace_random(num_replacements);
      found += static_cast<double>(churn.num_saturated());
    }
    const double all = num_filters * static_cast<double>(num_counters);
    const double expected = all * theory::saturated_share(load.kappa, full, load.replacements_per_key);
    EXPECT_GT(expected, 100) << "too few to notice a difference";
    // The law is at most 2% too high.
    SCOPED_TRACE(std::to_string(load.counter_bits) + " bits, kappa " + std::to_string(load.kappa));
    expect_near_bound(found, expected, 0.98);
    EXPECT_LE(expected,
              1.001 * num_filters *
                  theory::expected_saturated_counters(num_counters, k, num_keys, full, num_replacements));
  }
}

TEST(Saturation, TheBoundHoldsWhicheverKeyIsRemoved) {
  const std::uint64_t num_keys = 5700;
  const std::uint64_t num_replacements = 40 * num_keys;
  Plain churn({num_counters, 4, 3, 1}, num_keys, 5);
  churn.replace_oldest(num_replacements);
  const double bound = theory::expected_saturated_counters(num_counters, 4, num_keys, 7, num_replacements);
  expect_near_bound(static_cast<double>(churn.num_saturated()), bound, 0.8);
}

TEST(Saturation, TheBoundHoldsWhereTheCountersOfAKeyAreInOneLine) {
  const std::uint64_t num_keys = 5000;
  const std::uint64_t num_replacements = 200 * num_keys;
  const std::uint32_t B = CounterArray::positions_per_line(3);
  const std::uint64_t num_lines = num_counters / B;
  InLines churn({num_lines * B, 4, 3, 1}, num_keys, 6);
  churn.replace_random(num_replacements);
  const double bound =
      theory::blocked_expected_saturated_counters(num_lines, B, 4, num_keys, 7, num_replacements);
  expect_near_bound(static_cast<double>(churn.num_saturated()), bound, 0.75);
  EXPECT_GT(bound, 100);
}

TEST(Saturation, TheLargerRateHoldsForKeysThatRepeatAndAreReplacedWhole) {
  const std::uint64_t num_keys = 2000;
  constexpr int times = 3;
  const std::uint64_t num_replacements = 150 * num_keys;
  Plain churn({num_counters, 4, 4, 1}, num_keys, 7, times);
  churn.replace_random(num_replacements);
  const theory::CountHistogram histogram =
      theory::make_count_histogram({{times, static_cast<double>(num_keys)}}, 16);
  const double bound =
      theory::compound_expected_saturated_counters(histogram, 4, num_counters, 15, times * num_replacements);
  const auto found = static_cast<double>(churn.num_saturated());
  expect_at_most(found, bound);
  // Single insertions would saturate more.
  const std::vector<double> points = theory::counter_value_distribution(histogram, 4, num_counters, 15);
  const double together = 4.0 * static_cast<double>(num_keys * num_replacements) / num_keys *
                          (points[12] + points[13] + points[14]);
  expect_near_bound(found, together, 0.8);
  EXPECT_GT(together, 40);
}

TEST(Saturation, TheLargerRateHoldsForInsertionsThatAreReplacedOneByOne) {
  // Each replacement removes a random insertion and inserts one of these keys: counts are Poisson(1). Over a longer life the
  // counters of many keys cross again and again, and the bound is further above.
  const std::uint64_t num_keys = 150'000;
  const std::uint64_t num_replacements = num_keys;
  const std::uint64_t m = std::uint64_t{1} << 20;
  const std::uint32_t k = 4;
  CountingBloomFilter<> filter({m, k, 3, 1}, 8);
  Random random(8);
  std::vector<Hash128> keys;
  for (std::uint64_t i = 0; i < num_keys; ++i) keys.push_back(random.digest());
  std::vector<std::uint64_t> inserted;
  for (std::uint64_t i = 0; i < num_keys; ++i) {
    inserted.push_back(random.below(num_keys));
    (void)filter.insert(keys[inserted.back()]);
  }
  const std::uint64_t at_first = filter.statistics().num_saturated;
  for (std::uint64_t i = 0; i < num_replacements; ++i) {
    std::uint64_t& replaced = inserted[random.below(num_keys)];
    ASSERT_NE(filter.remove(keys[replaced]), RemoveResult::refused);
    replaced = random.below(num_keys);
    (void)filter.insert(keys[replaced]);
  }
  theory::CountHistogram histogram;
  histogram.keys_with_count.assign(12, 0.0);
  for (std::uint64_t c = 1; c < 12; ++c)
    histogram.keys_with_count[c] = static_cast<double>(num_keys) * std::exp(theory::ln_poisson_point(c, 1));
  const double bound =
      static_cast<double>(num_replacements) * theory::compound_counter_saturation_rate(histogram, k, m, 7);
  const auto found = static_cast<double>(filter.statistics().num_saturated - at_first);
  expect_near_bound(found, bound, 0.6);  // some cross again
  // As if keys were replaced whole.
  const std::vector<double> points = theory::counter_value_distribution(histogram, k, m, 7);
  double together = 0;
  for (std::uint64_t c = 1; c < 12; ++c) {
    for (std::uint64_t j = 1; j <= std::min<std::uint64_t>(c, 7); ++j)
      together += histogram.keys_with_count[c] * points[7 - j];
  }
  together *= k * static_cast<double>(num_replacements) / histogram.num_insertions();
  EXPECT_GT(found, together + most_deviations * std::sqrt(together));
}

TEST(Saturation, SaturatedCountersRaiseTheFalsePositiveRateByAtMostTheirShare) {
  const std::uint64_t num_keys = 4000;
  Plain churn({num_counters, 4, 2, 1}, num_keys, 8);
  churn.replace_random(20 * num_keys);
  const double share = static_cast<double>(churn.num_saturated()) / static_cast<double>(num_counters);
  EXPECT_GT(share, 0.1);
  const double bound = theory::saturated_false_positive_probability(num_counters, 4, num_keys, share);
  constexpr std::uint64_t num_queries = 400'000;
  const double found = churn.false_positive_rate(num_queries);
  EXPECT_LE(found, bound + most_deviations * std::sqrt(bound / num_queries));
  EXPECT_GE(found, 0.85 * bound);
  EXPECT_GE(found, 1.5 * theory::saturated_false_positive_probability(num_counters, 4, num_keys, 0));
}

}  // namespace
}  // namespace tally::test

#include "tally/theory/blocked_counters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/counter_overflow.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

/// The share of all ways to place keys and a query in which every counter of the query reaches theta.
class AllOutcomes {
 public:
  AllOutcomes(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k)
      : num_blocks_(num_blocks), B_(B), k_(k) {
    for (std::uint64_t choice = 0; choice < num_blocks * power(B, k); ++choice)
      positions_.push_back(positions_of(choice));
  }

  double pass_share(std::uint64_t theta, std::uint64_t true_count,
                    const std::vector<std::uint64_t>& counts) const {
    const std::uint64_t choices = positions_.size();
    const std::uint64_t outcomes = power(choices, counts.size() + 1);
    std::uint64_t passed = 0;
    std::vector<std::uint64_t> counters(num_blocks_ * B_);
    for (std::uint64_t outcome = 0; outcome < outcomes; ++outcome) {
      std::ranges::fill(counters, 0);
      std::uint64_t left = outcome;
      for (std::size_t key = 0; key <= counts.size(); ++key, left /= choices) {
        const std::uint64_t count = key == 0 ? true_count : counts[key - 1];
        for (const std::uint64_t position : positions_[left % choices]) counters[position] += count;
      }
      bool all = true;
      for (const std::uint64_t position : positions_[outcome % choices])
        all = all && counters[position] >= theta;
      passed += all;
    }
    return static_cast<double>(passed) / static_cast<double>(outcomes);
  }

 private:
  static std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
    std::uint64_t result = 1;
    while (exponent-- > 0) result *= base;
    return result;
  }
  std::vector<std::uint64_t> positions_of(std::uint64_t choice) const {
    const std::uint64_t first = choice % num_blocks_ * B_;
    choice /= num_blocks_;
    std::vector<std::uint64_t> positions;
    for (std::uint32_t i = 0; i < k_; ++i, choice /= B_) positions.push_back(first + choice % B_);
    return positions;
  }

  std::uint64_t num_blocks_;
  std::uint32_t B_;
  std::uint32_t k_;
  std::vector<std::vector<std::uint64_t>> positions_;  ///< of each choice of a line and of positions in it
};

TEST(BlockedThreshold, EqualsTheCountOfAllOutcomes) {
  const auto expect_equal = [](std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                               const std::vector<std::uint64_t>& counts) {
    std::vector<RepeatedKeys> groups;
    for (const std::uint64_t count : counts) groups.push_back({count, 1});
    for (std::uint64_t theta = 1; theta <= 4; ++theta) {
      for (std::uint64_t true_count = 0; true_count < theta; ++true_count) {
        TALLY_EXPECT_RELATIVE(
            blocked_threshold_false_positive_probability(theta, num_blocks, B, k, groups, true_count),
            AllOutcomes(num_blocks, B, k).pass_share(theta, true_count, counts), 1e-12);
      }
    }
  };
  expect_equal(1, 3, 2, {1, 1, 1});
  expect_equal(2, 2, 3, {1, 1});
  expect_equal(2, 3, 2, {2, 1, 3});
  expect_equal(3, 1, 2, {1, 2});
}

TEST(BlockedThreshold, OfOneIsTheLawOfBits) {
  for (const std::uint32_t k : {1u, 4u, 6u}) {
    const RepeatedKeys keys[] = {{1, 700}, {3, 300}};
    TALLY_EXPECT_RELATIVE(ln_blocked_threshold_false_positive_probability(1, 90, 128, k, keys),
                          ln_blocked_bloom_false_positive_probability(90, 128, k, 1000), 1e-10);
  }
}

// It is lower, because it neglects repeated positions; the more so the lower the rate.
TEST(BlockedThreshold, IsAboveTheApproximation) {
  for (const std::uint64_t theta : {1, 2}) {
    const RepeatedKeys keys[] = {{1, 1200}, {2, 40}};
    const double exact = blocked_threshold_false_positive_probability(theta, 100, 128, 5, keys);
    const double approximate =
        std::exp(ln_blocked_threshold_false_positive_probability_approximate(theta, 100, 128, 5, keys));
    EXPECT_LT(approximate, exact) << theta;
    EXPECT_GT(approximate, exact / 1.5) << theta;
  }
}

TEST(BlockedThreshold, KnowsHowManyStatesItHas) {
  EXPECT_EQ(blocked_threshold_num_states(3, 2, 0), 10.0);
  EXPECT_EQ(blocked_threshold_num_states(3, 2, 2), 3.0);
  EXPECT_EQ(blocked_threshold_num_states(2, 25, 0), std::numeric_limits<double>::infinity());
}

TEST(BlockedCounterOverflow, IsTheBoundOfOneLineWithoutOtherLines) {
  for (const std::uint64_t i : {1, 3, 15}) {
    TALLY_EXPECT_RELATIVE(ln_blocked_counter_overflow_union_bound(1, 128, 4, 20, i),
                          ln_counter_overflow_union_bound(128, 4, 20, i), 1e-12);
  }
}

TEST(BlockedCounterOverflow, IsAboveThatOfEvenLinesAndEqualsTheLawOfJumps) {
  constexpr std::uint64_t num_lines = 100'000;
  constexpr std::uint64_t n = 1'280'000;
  for (const std::uint64_t i : {10, 12, 15}) {
    const double blocked = ln_blocked_counter_overflow_union_bound(num_lines, 128, 6, n, i);
    EXPECT_GT(blocked, ln_counter_overflow_union_bound(128 * num_lines, 6, n, i)) << i;
    const CountHistogram jumps = blocked_counter_jumps(make_count_histogram({{1, n}}, 20), 128, 6);
    const double of_jumps = std::log(128.0 * num_lines) + ln_counter_upper_tail(jumps, 1, num_lines, i);
    EXPECT_NEAR(blocked, std::min(0.0, of_jumps), 2e-3) << i;  // a Poisson number of keys in a line
  }
}

TEST(BlockedCounterOverflow, CountsTheInsertionsOfRepeatedKeys) {
  const CountHistogram jumps = blocked_counter_jumps(make_count_histogram({{2, 10.0}, {30, 1.0}}, 8), 4, 2);
  EXPECT_NEAR(jumps.keys_with_count[2], 10 * 2 * 0.25 * 0.75, 1e-12);
  EXPECT_NEAR(jumps.keys_with_count[4], 10 * 0.25 * 0.25, 1e-12);
  EXPECT_NEAR(jumps.keys_beyond, 1 - 0.75 * 0.75, 1e-12);
  EXPECT_NEAR(jumps.insertions_beyond, 30 * 2 * 0.25, 1e-12);
}

TEST(BlockedCounters, RefuseParametersOutOfRange) {
  TALLY_EXPECT_REFUSED(blocked_counter_overflow_union_bound(0, 128, 4, 20, 15), "num_blocks");
  TALLY_EXPECT_REFUSED(blocked_counter_overflow_union_bound(1, 0, 4, 20, 15), "B");
  TALLY_EXPECT_REFUSED(blocked_counter_overflow_union_bound(1, 128, 0, 20, 15), "k");
  TALLY_EXPECT_REFUSED(blocked_counter_overflow_union_bound(1, 128, 4, 20, 0), "i");
  TALLY_EXPECT_REFUSED(blocked_threshold_false_positive_probability(0, 1, 128, 4, {}), "theta");
  TALLY_EXPECT_REFUSED(blocked_threshold_false_positive_probability(2, 1, 128, 4, {}, 2), "true_count");
  TALLY_EXPECT_REFUSED(blocked_threshold_false_positive_probability(30, 1, 128, 15, {}), "number of states");
  TALLY_EXPECT_REFUSED(blocked_counter_jumps({}, 128, 1025), "k");
}

}  // namespace
}  // namespace tally::theory

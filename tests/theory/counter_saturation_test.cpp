#include "tally/theory/counter_saturation.hpp"

#include <cmath>
#include <vector>

#include "tally/theory/blocked_counters.hpp"
#include "tally/theory/counter_overflow.hpp"
#include "tally/theory/insertion_histogram.hpp"
#include "tally/theory/tails.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(CounterSaturation, TheRateIsTheDifferenceThatOneKeyMakes) {
  for (const std::uint64_t m : {7u, 100u, 5000u}) {
    for (const std::uint32_t k : {1u, 3u, 8u}) {
      for (const std::uint64_t n : {1u, 20u, 400u}) {
        for (const std::uint64_t i : {1u, 2u, 3u, 7u, 15u}) {
          const auto all = [&](std::uint64_t keys) {
            return static_cast<double>(m) * std::exp(ln_binomial_upper_tail(i, static_cast<double>(k * keys),
                                                                            1.0 / static_cast<double>(m)));
          };
          const double rate = counter_saturation_rate(m, k, n, i);
          EXPECT_NEAR(rate, all(n) - all(n - 1), 1e-9 * all(n)) << m << " " << k << " " << n << " " << i;
          EXPECT_NEAR(expected_saturated_counters(m, k, n, i, 0), all(n), 1e-9 * all(n));
          EXPECT_NEAR(expected_saturated_counters(m, k, n, i, 5),
                      std::min(static_cast<double>(m), all(n) + 5 * rate), 1e-9 * static_cast<double>(m));
        }
      }
    }
  }
}

TEST(CounterSaturation, InLinesTheRateIsTheDifferenceThatOneKeyMakes) {
  for (const std::uint64_t num_lines : {1u, 8u, 300u}) {
    for (const std::uint32_t k : {1u, 3u, 6u}) {
      for (const std::uint64_t n : {1u, 20u, 400u}) {
        for (const std::uint64_t i : {1u, 3u, 7u, 15u}) {
          const auto all = [&](std::uint64_t keys) {
            return keys == 0 ? 0.0 : blocked_expected_saturated_counters(num_lines, 16, k, keys, i, 0);
          };
          EXPECT_NEAR(blocked_counter_saturation_rate(num_lines, 16, k, n, i), all(n) - all(n - 1),
                      1e-9 * all(n) + 1e-12)
              << num_lines << " " << k << " " << n << " " << i;
          const double bound = blocked_counter_overflow_union_bound(num_lines, 16, k, n, i);
          if (bound < 1) {
            TALLY_EXPECT_RELATIVE(all(n), bound, 1e-9);
          }
        }
      }
    }
  }
}

TEST(CounterSaturation, WithEveryCountOneTheCompoundRateIsThatOfKeys) {
  const CountHistogram once = make_count_histogram({{1, 100'000.0}}, 32);
  for (const std::uint64_t i : {3u, 7u, 15u}) {
    TALLY_EXPECT_RELATIVE(compound_counter_saturation_rate(once, 7, 959'296, i),
                          counter_saturation_rate(959'296, 7, 100'000, i), 2e-3);
    TALLY_EXPECT_RELATIVE(compound_expected_saturated_counters(once, 7, 959'296, i, 1'000'000),
                          expected_saturated_counters(959'296, 7, 100'000, i, 1'000'000), 2e-3);
    TALLY_EXPECT_RELATIVE(blocked_compound_expected_saturated_counters(once, 8192, 128, 6, i, 1'000'000),
                          blocked_expected_saturated_counters(8192, 128, 6, 100'000, i, 1'000'000), 1e-2);
  }
}

TEST(CounterSaturation, OfKeysThatRepeatTheRateIsTheLargerOfWholeKeysAndSingleInsertions) {
  // Of keys that are inserted three times each a counter has 15 from the fifth on. If keys are replaced whole, one in three
  // insertions crosses; if insertions are, each may be the one that does.
  const CountHistogram thrice = make_count_histogram({{3, 50'000.0}}, 32);
  const double of_keys = counter_saturation_rate(400'000, 6, 50'000, 5);
  TALLY_EXPECT_RELATIVE(compound_counter_saturation_rate(thrice, 6, 400'000, 15), of_keys, 1e-3);
  // No sum of threes is 16 less a three: only whole keys cross.
  TALLY_EXPECT_RELATIVE(compound_counter_saturation_rate(thrice, 6, 400'000, 16),
                        counter_saturation_rate(400'000, 6, 50'000, 6) / 3, 1e-3);
}

/// The share of counters that were ever at i: the chain, step by step.
double simulated_share(double kappa, std::uint64_t i, double time) {
  std::vector<double> points(i);
  for (std::uint64_t s = 0; s < i; ++s) points[s] = std::exp(ln_poisson_point(s, kappa));
  constexpr int num_steps = 40'000;
  const double step = time / num_steps;
  const auto change = [&](const std::vector<double>& at) {
    std::vector<double> by(i);
    for (std::uint64_t s = 0; s < i; ++s) {
      by[s] = -(kappa + static_cast<double>(s)) * at[s];
      if (s > 0) by[s] += kappa * at[s - 1];
      if (s + 1 < i) by[s] += static_cast<double>(s + 1) * at[s + 1];
    }
    return by;
  };
  for (int n = 0; n < num_steps; ++n) {
    const std::vector<double> first = change(points);
    std::vector<double> middle = points;
    for (std::uint64_t s = 0; s < i; ++s) middle[s] += 0.5 * step * first[s];
    const std::vector<double> second = change(middle);
    for (std::uint64_t s = 0; s < i; ++s) points[s] += step * second[s];
  }
  double left = 0;
  for (const double point : points) left += point;
  return 1 - left;
}

TEST(CounterSaturation, TheShareOfRandomKeysIsThatOfTheChainFromAboveAndBelowTheBound) {
  for (const double kappa : {0.3, 0.7, 1.5}) {
    for (const std::uint64_t i : {1u, 3u, 7u}) {
      for (const double time : {0.2, 1.0, 3.0, 20.0}) {
        const double share = saturated_share(kappa, i, time);
        const double truth = simulated_share(kappa, i, time);
        EXPECT_GE(share, truth - 1e-9) << kappa << " " << i << " " << time;
        EXPECT_LE(share, 1.02 * truth + 1e-9) << kappa << " " << i << " " << time;
        const auto m = static_cast<std::uint64_t>(1e7);
        const auto n = static_cast<std::uint64_t>(kappa * 1e7);
        EXPECT_LE(share, 1.001 *
                             expected_saturated_counters(
                                 m, 1, n, i, static_cast<std::uint64_t>(time * static_cast<double>(n))) /
                             1e7);
      }
    }
  }
}

TEST(CounterSaturation, ALongLifeIsTheSlowestPart) {
  // 1 / rate is the mean time to i from 0, sum over s < i of Pr(S <= s) / (kappa Pr(S = s)), less what is lost at once.
  for (const double kappa : {0.4, 0.7297}) {
    double mean = 0;
    for (std::uint64_t s = 0; s < 15; ++s)
      mean += std::exp(ln_poisson_lower_tail(s + 1, kappa) - ln_poisson_point(s, kappa)) / kappa;
    TALLY_EXPECT_RELATIVE(saturated_share(kappa, 15, 1e9), 1e9 / mean, 1e-4);
    TALLY_EXPECT_RELATIVE(saturated_share(kappa, 15, mean), -std::expm1(-1.0), 1e-9);
  }
  EXPECT_EQ(saturated_share(0.5, 65535, 1e15), 0.0);
  EXPECT_EQ(saturated_share(1000, 15, 0), 1.0);
  EXPECT_NEAR(saturated_share(0.5, 3, 1e9), 1.0, 1e-12);
}

TEST(CounterSaturation, TheFalsePositiveRateRisesFromThatOfTheFilterToOne) {
  const double rate = std::pow(-std::expm1(600 * std::log1p(-1.0 / 1000)), 6);
  TALLY_EXPECT_RELATIVE(saturated_false_positive_probability(1000, 6, 100, 0), rate, 1e-12);
  TALLY_EXPECT_RELATIVE(saturated_false_positive_probability(1000, 6, 100, 0.1),
                        std::pow(1 - 0.9 * std::pow(0.999, 600), 6), 1e-12);
  EXPECT_EQ(saturated_false_positive_probability(1000, 6, 100, 1), 1.0);
  TALLY_EXPECT_RELATIVE(saturated_false_positive_probability(1000, 2, 0, 0.25), 1.0 / 16, 1e-12);
}

TEST(CounterSaturation, InsertionsOfKnownKeysHaveTheirNumberAndMean) {
  for (const std::uint64_t insertions : {1000ull, 1001ull, 1500ull, 3000ull, 20'000ull}) {
    const CountHistogram histogram = insertion_count_histogram(1000, insertions, 200);
    TALLY_EXPECT_RELATIVE(histogram.num_distinct(), 1000.0, 1e-9);
    TALLY_EXPECT_RELATIVE(histogram.num_insertions(), static_cast<double>(insertions), 1e-9);
    const CountHistogram cut = insertion_count_histogram(1000, insertions, 2);
    TALLY_EXPECT_RELATIVE(cut.num_distinct(), 1000.0, 1e-9);
    TALLY_EXPECT_RELATIVE(cut.keys_with_count[1], histogram.keys_with_count[1], 1e-12);
  }
  // Two of three: a / (1 - exp(-a)) = 1.5.
  const CountHistogram some = insertion_count_histogram(2, 3, 100);
  const double a = 2 * some.keys_with_count[2] / some.keys_with_count[1];
  TALLY_EXPECT_RELATIVE(a / -std::expm1(-a), 1.5, 1e-9);
  TALLY_EXPECT_REFUSED(insertion_count_histogram(0, 0, 10), "num_keys");
  TALLY_EXPECT_REFUSED(insertion_count_histogram(10, 9, 10), "num_insertions");
  TALLY_EXPECT_REFUSED(insertion_count_histogram(10, 11, 0), "limit");
}

TEST(CounterSaturation, RefusesWhatIsOutOfRange) {
  const CountHistogram keys = make_count_histogram({{1, 10.0}, {9, 1.0}}, 4);
  TALLY_EXPECT_REFUSED(counter_saturation_rate(0, 1, 1, 1), "m");
  TALLY_EXPECT_REFUSED(counter_saturation_rate(1, 0, 1, 1), "k");
  TALLY_EXPECT_REFUSED(counter_saturation_rate(1, 1, 0, 1), "n");
  TALLY_EXPECT_REFUSED(expected_saturated_counters(1, 1, 1, 0, 1), "i");
  TALLY_EXPECT_REFUSED(blocked_counter_saturation_rate(0, 1, 1, 1, 1), "num_blocks");
  TALLY_EXPECT_REFUSED(blocked_expected_saturated_counters(1, 1, 1, 0, 1, 1), "n");
  TALLY_EXPECT_REFUSED(compound_counter_saturation_rate(make_count_histogram({}, 4), 1, 1, 1), "insertions");
  TALLY_EXPECT_REFUSED(compound_expected_saturated_counters(keys, 1, 1, 5, 1), "theta");
  TALLY_EXPECT_REFUSED(saturated_share(0, 1, 1), "kappa");
  TALLY_EXPECT_REFUSED(saturated_share(1, 0, 1), "i");
  TALLY_EXPECT_REFUSED(saturated_share(1, 1, -1), "replacements_per_key");
  TALLY_EXPECT_REFUSED(saturated_false_positive_probability(1, 1, 1, 1.1), "share");
  TALLY_EXPECT_REFUSED(saturated_false_positive_probability(1, 1, 1, std::nan("")), "share");
}

}  // namespace
}  // namespace tally::theory

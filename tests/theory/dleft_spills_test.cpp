#include "tally/theory/dleft_spills.hpp"

#include <cmath>
#include <vector>

#include "tally/theory/tails.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

/// The expected number of values that n keys, each inserted `times` times, take above `largest`, exactly.
double exact(double n, double values, std::uint64_t times, std::uint64_t largest) {
  return values * std::exp(ln_binomial_upper_tail(largest / times + 1, n, 1 / values));
}

TEST(DLeftSpills, OfEqualKeysAreThoseOfTheBinomialTailFromAboveAtAnySize) {
  for (const double n : {5.0, 40.0, 1000.0, 100'000.0}) {
    for (const std::uint64_t R : {15u, 255u, 8191u}) {
      for (const std::uint64_t largest : {1u, 2u, 4u, 8u, 16u}) {
        for (const std::uint64_t times : {1u, 3u, 4u, 9u}) {
          const std::uint64_t B = 1 + static_cast<std::uint64_t>(n) / 10;
          const double values = static_cast<double>(B * R);
          const double truth = exact(n, values, times, largest);
          const CountHistogram keys = make_count_histogram({{times, n}}, 20);
          const double expected = dleft_expected_spills(keys, B, R, largest);
          // The distance is that of a Poisson from a binomial tail.
          EXPECT_GE(expected, truth * (1 - 1e-9)) << n << " " << R << " " << largest << " " << times;
          if (largest / times <= 1) {
            EXPECT_LE(expected, truth * (1 + 2 / n + 2 / values) + 1e-12) << n << " " << R << " " << largest;
          }
          EXPECT_GE(dleft_expected_spills_bound(keys, B, R, largest), expected * (1 - 1e-9));
        }
      }
    }
  }
}

TEST(DLeftSpills, OfAnyCountsAreThoseOfEveryWayToDivideThem) {
  // 3 keys once, 2 twice and 1 four times over 30 values: all sums of the keys that have one value.
  const std::vector<std::uint64_t> counts = {1, 1, 1, 2, 2, 4};
  const CountHistogram keys = make_count_histogram({{1, 3.0}, {2, 2.0}, {4, 1.0}}, 12);
  for (const std::uint64_t largest : {1u, 2u, 3u, 4u, 6u, 9u}) {
    double truth = 0;
    for (std::uint32_t chosen = 0; chosen < 64; ++chosen) {
      double probability = 30;
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < 6; ++i) {
        const bool has_value = (chosen >> i & 1) != 0;
        probability *= has_value ? 1.0 / 30 : 29.0 / 30;
        if (has_value) sum += counts[i];
      }
      if (sum > largest) truth += probability;
    }
    const double expected = dleft_expected_spills(keys, 2, 15, largest);
    EXPECT_GE(expected, truth) << largest;
    // A Poisson number of a key may be above 1, which matters where a sum of all keys is needed.
    if (largest <= 4) {
      EXPECT_LE(expected, truth * 1.5) << largest;
    }
  }
  EXPECT_NEAR(dleft_expected_spills(keys, 1 << 20, 1 << 10, 3), 1.0, 1e-6);
  // 4 and one of two 2, and half of a pair of 4 itself.
  EXPECT_NEAR(dleft_expected_spills(keys, 1 << 20, 1 << 10, 5) * 0x1p30, 2.5, 1e-6);
}

TEST(DLeftSpills, TheBoundFallsAsThereAreMoreFingerprintsAndIsTightWhereFewKeysShareOne) {
  const CountHistogram mixed =
      make_count_histogram({{1, 9000.0}, {2, 800.0}, {3, 100.0}, {7, 90.0}, {50, 10.0}}, 64);
  for (const std::uint64_t largest : {1u, 2u, 4u, 8u, 16u}) {
    double last = 1e300;
    for (std::uint64_t values = 10'000; values < 1'000'000'000'000; values += values / 5) {
      const double bound = dleft_expected_spills_bound(mixed, values, 1, largest);
      EXPECT_LE(bound, last * (1 + 1e-12)) << largest << " " << values;
      EXPECT_GE(bound, dleft_expected_spills(mixed, values, 1, largest) * (1 - 1e-12));
      last = bound;
    }
    const double expected = dleft_expected_spills(mixed, 1 << 20, 1, largest);
    EXPECT_LE(dleft_expected_spills_bound(mixed, 1 << 20, 1, largest), 1.02 * expected) << largest;
  }
}

TEST(DLeftSpills, TheTailIsChernoffsOverAllStates) {
  TALLY_EXPECT_RELATIVE(dleft_spills_tail(2, 30, 999), 1000 * std::exp(31 - 2 - 31 * std::log(31 / 2.0)),
                        1e-12);
  EXPECT_EQ(dleft_spills_tail(2, 1, 0), 1.0);
  EXPECT_EQ(dleft_spills_tail(0, 0, ~0ull), 0.0);
  EXPECT_EQ(ln_dleft_spills_tail(0, 0, 1), -std::numeric_limits<double>::infinity());
  for (const double expected : {1e-12, 1e-3, 0.7, 8.0, 500.0, 1e6}) {
    for (const std::uint64_t N : {std::uint64_t{0}, std::uint64_t{1'000'000'000}, ~std::uint64_t{0}}) {
      for (const double failure : {0.5, 1e-6, 1e-15}) {
        const std::uint64_t capacity = dleft_spill_capacity(expected, N, failure);
        EXPECT_LE(dleft_spills_tail(expected, capacity, N), failure);
        if (capacity > 0) {
          EXPECT_GT(dleft_spills_tail(expected, capacity - 1, N), failure);
        }
        // It holds for independent fingerprints, whose number is Poisson at most.
        EXPECT_GE(ln_dleft_spills_tail(expected, capacity, 0), ln_poisson_upper_tail(capacity + 1, expected));
      }
      const double most = dleft_expected_most_spills(expected, N);
      EXPECT_GE(most, expected);
      if (N > 0) {
        TALLY_EXPECT_RELATIVE(most * std::log(most / expected) - most + expected,
                              std::log1p(static_cast<double>(N)), 1e-6);
      }
    }
  }
}

TEST(DLeftSpills, RefuseWhatIsOutOfRange) {
  const CountHistogram keys = make_count_histogram({{1, 10.0}, {9, 1.0}}, 4);
  TALLY_EXPECT_REFUSED(dleft_expected_spills(keys, 0, 1, 1), "B");
  TALLY_EXPECT_REFUSED(dleft_expected_spills(keys, 1, 0, 1), "R");
  TALLY_EXPECT_REFUSED(dleft_expected_spills(keys, 1ull << 62, 4, 1), "B R");
  TALLY_EXPECT_REFUSED(dleft_expected_spills(keys, 9, 9, 0), "largest");
  TALLY_EXPECT_REFUSED(dleft_expected_spills(keys, 9, 9, 4), "largest");
  TALLY_EXPECT_REFUSED(dleft_expected_spills_bound(keys, 9, 9, 10'000), "largest");
  TALLY_EXPECT_REFUSED(dleft_spills_tail(-1, 3, 3), "expected");
  TALLY_EXPECT_REFUSED(dleft_spills_tail(std::nan(""), 3, 3), "expected");
  TALLY_EXPECT_REFUSED(dleft_spill_capacity(1, 3, 0), "failure_probability");
  TALLY_EXPECT_REFUSED(dleft_spill_capacity(1, 3, 1), "failure_probability");
  TALLY_EXPECT_REFUSED(dleft_expected_most_spills(1e17, 3), "expected");
}

}  // namespace
}  // namespace tally::theory

#include "tally/theory/counter_overflow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(CounterOverflowTheory, FourBitsAreEnoughByTheBoundOf137e15PerCounter) {
  EXPECT_NEAR(counter_overflow_bound_best_k(1, 16), 1.37e-15, 5e-18);
  TALLY_EXPECT_RELATIVE(counter_overflow_bound_best_k(1000000, 16),
                        1e6 * std::pow(std::exp(1.0) * std::log(2.0) / 16, 16), 1e-13);
}

TEST(CounterOverflowTheory, EachBoundLiesAboveTheTighterOne) {
  for (const std::uint64_t m : {100u, 10000u, 100000000u}) {
    for (const std::uint32_t k : {1u, 4u, 6u}) {
      const std::uint64_t n = m / 10;  // k = 6 is below the best k 6.93
      for (std::uint64_t i = 1; i <= 40; ++i) {
        const double slack = 1e-12;
        EXPECT_LE(ln_counter_overflow_union_bound(m, k, n, i), ln_counter_overflow_bound(m, k, n, i) + slack);
        EXPECT_LE(ln_counter_overflow_bound(m, k, n, i),
                  ln_counter_overflow_bound_simple(m, k, n, i) + slack);
        EXPECT_LE(ln_counter_overflow_bound_simple(m, k, n, i),
                  ln_counter_overflow_bound_best_k(m, i) + slack);
      }
    }
  }
}

TEST(CounterOverflowTheory, TheBoundsHoldOverAllOutcomesAtTinySizes) {
  for (unsigned m = 2; m <= 4; ++m) {
    for (unsigned throws = 1; throws <= 6; ++throws) {
      for (unsigned i = 1; i <= throws + 1; ++i) {
        double reached = 0;
        double outcomes = 0;
        test::for_every_outcome(m, throws, [&](const std::vector<unsigned>& positions) {
          std::vector<unsigned> counters(m);
          for (const unsigned position : positions) ++counters[position];
          reached += *std::max_element(counters.begin(), counters.end()) >= i;
          ++outcomes;
        });
        const double union_bound = counter_overflow_union_bound(m, 1, throws, i);
        EXPECT_LE(reached / outcomes, union_bound + 1e-14);
        // Two counters cannot both pass half of the throws: there the union bound is exact.
        if (2 * i > throws) {
          EXPECT_NEAR(reached / outcomes, union_bound, 1e-14);
        }
        EXPECT_LE(reached / outcomes, counter_overflow_bound(m, 1, throws, i) + 1e-14);
        EXPECT_LE(reached / outcomes, counter_overflow_bound_simple(m, 1, throws, i) + 1e-14);
      }
    }
  }
}

TEST(CounterOverflowTheory, TheFirstBoundIsItsBinomialCoefficient) {
  // m C(12, 5) / m^5
  TALLY_EXPECT_RELATIVE(counter_overflow_bound(50, 3, 4, 5), 792.0 / std::pow(50.0, 4), 1e-13);
  TALLY_EXPECT_RELATIVE(ln_counter_overflow_bound(std::uint64_t{1} << 62, 8, std::uint64_t{1} << 59, 40),
                        62 * std::log(2.0) - std::lgamma(41.0), 1e-12);
}

TEST(CounterOverflowTheory, BoundsNeverPassOneAndImpossibleCountsAreZero) {
  EXPECT_EQ(counter_overflow_union_bound(1, 1, 10, 10), 1.0);
  EXPECT_EQ(counter_overflow_bound(1, 1, 10, 10), 1.0);
  EXPECT_EQ(counter_overflow_bound_simple(1000, 4, 100000, 2), 1.0);
  EXPECT_EQ(counter_overflow_bound_best_k(1000, 2), 1.0);
  EXPECT_EQ(counter_overflow_union_bound(10, 2, 3, 7), 0.0);
  EXPECT_EQ(counter_overflow_bound(10, 2, 3, 7), 0.0);
  EXPECT_EQ(ln_counter_overflow_bound_simple(10, 2, 0, 1), -std::numeric_limits<double>::infinity());
  EXPECT_LT(ln_counter_overflow_union_bound(1000, 4, 100, 300), -1000);
}

TEST(CounterOverflowTheory, TheInverseOfGammaInvertsIt) {
  EXPECT_EQ(inverse_gamma_function(1), 2.0);
  TALLY_EXPECT_RELATIVE(inverse_gamma_function(2), 3.0, 1e-14);
  TALLY_EXPECT_RELATIVE(inverse_gamma_function(3628800), 11.0, 1e-14);
  for (double x = 1.5; x < 1e300; x *= 1e7) {
    TALLY_EXPECT_RELATIVE(std::lgamma(inverse_gamma_function(x)), std::log(x), 1e-12);
  }
}

TEST(CounterOverflowTheory, TheExpectedLargestCounterIsARoughGuide) {
  // 2^17 counters at load ln 2 and at load 1. The formula lies above simulation, by less than 30%.
  constexpr std::uint64_t m = 1 << 17;
  std::mt19937_64 random(11);
  for (const std::uint64_t throws : {std::uint64_t{90852}, m}) {
    double sum = 0;
    constexpr int filters = 40;
    for (int filter = 0; filter < filters; ++filter) {
      std::vector<std::uint32_t> counters(m);
      for (std::uint64_t i = 0; i < throws; ++i) ++counters[random() % m];
      sum += *std::max_element(counters.begin(), counters.end());
    }
    const double ratio = expected_largest_counter(m, 1, throws) / (sum / filters);
    EXPECT_GT(ratio, 1.0);
    EXPECT_LT(ratio, 1.3);
  }
}

TEST(CounterOverflowTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(counter_overflow_union_bound(0, 1, 1, 1), "m");
  TALLY_EXPECT_REFUSED(counter_overflow_union_bound(1, 0, 1, 1), "k");
  TALLY_EXPECT_REFUSED(counter_overflow_union_bound(1, 1, 1, 0), "i");
  TALLY_EXPECT_REFUSED(counter_overflow_bound(1, 1025, 1, 1), "k");
  TALLY_EXPECT_REFUSED(counter_overflow_bound_simple(0, 1, 1, 1), "m");
  TALLY_EXPECT_REFUSED(counter_overflow_bound_best_k(1, 0), "i");
  TALLY_EXPECT_REFUSED(expected_largest_counter(1, 1, 0), "n");
  TALLY_EXPECT_REFUSED(expected_largest_counter(0, 1, 1), "m");
  for (const double bad : {0.5, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    TALLY_EXPECT_REFUSED(inverse_gamma_function(bad), "x");
  }
}

}  // namespace
}  // namespace tally::theory

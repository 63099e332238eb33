#include "tally/theory/bloom.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "tally/theory/confidence.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// `value` rounded to three digits, as the paper prints.
double three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return std::stod(text);
}

TEST(BloomTheory, EveryPrintedEntryOfSummaryCacheTables3To5IsTheFormula) {
  // n = 10^9 keys: (1 - exp(-k n / m))^k depends on m/n alone.
  const auto rows = test::read_csv("summary_cache_tables.csv");
  int misprints = 0;
  ASSERT_GE(rows.size(), 200u);
  for (const auto& row : rows) {
    const auto m = static_cast<std::uint64_t>(row.at("m_over_n") * 1e9);
    const auto k = static_cast<std::uint32_t>(row.at("k"));
    const double printed = row.at("printed");
    const double value = false_positive_probability_approximate(m, k, 1000000000);
    if (row.at("printed_typo") != 0) {
      // A misprint: too large by a factor of ten, and right in every digit otherwise.
      EXPECT_NE(three_digits(value), printed);
      TALLY_EXPECT_RELATIVE(three_digits(value) * 10, printed, 1e-12);
      ++misprints;
    } else if (row.at("m_over_n") == 5 && k == 3) {
      EXPECT_EQ(printed, 0.092);  // printed with a digit less
      EXPECT_EQ(three_digits(value), 0.0918);
    } else {
      EXPECT_EQ(three_digits(value), printed) << "m/n = " << row.at("m_over_n") << ", k = " << k;
    }
  }
  EXPECT_EQ(misprints, 2);
}

TEST(BloomTheory, TenBitsAKeyCosts0943PercentWithFiveHashesAnd0819AtTheBestSeven) {
  EXPECT_NEAR(false_positive_probability(10000000, 5, 1000000), 0.00943, 5e-6);
  EXPECT_NEAR(false_positive_probability(10000000, 7, 1000000), 0.00819, 5e-6);
  EXPECT_EQ(best_num_hashes(10000000, 1000000), 7u);
}

TEST(BloomTheory, TheOccupancyFormIsTheMeanOverAllOutcomes) {
  struct Case {
    std::uint32_t m, k, n;
  };
  for (const auto [m, k, n] : {Case{2, 2, 2}, Case{4, 2, 2}, Case{3, 3, 2}, Case{5, 1, 4}, Case{1, 2, 1}}) {
    double hits = 0;
    double outcomes = 0;
    test::for_every_outcome(m, k * n, [&, m = m, k = k](const std::vector<unsigned>& positions) {
      std::vector<bool> bits(m);
      for (const unsigned position : positions) bits[position] = true;
      double set = 0;
      for (const bool bit : bits) set += bit;
      hits += std::pow(set / m, k);
      ++outcomes;
    });
    TALLY_EXPECT_RELATIVE(false_positive_probability_occupancy(m, k, n), hits / outcomes, 1e-14);
  }
}

TEST(BloomTheory, TheIndependenceFormulaLiesBelowTheTruthAndComesCloserAsTheFilterGrows) {
  const auto gap = [](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
    return 1 - false_positive_probability(m, k, n) / false_positive_probability_occupancy(m, k, n);
  };
  EXPECT_NEAR(gap(1024, 7, 100), 0.006, 0.0005);
  EXPECT_NEAR(gap(64, 7, 6), 0.09, 0.005);
  EXPECT_GT(gap(1 << 20, 7, 100000), 0);
  EXPECT_LT(gap(1 << 20, 7, 100000), 1e-5);
}

TEST(BloomTheory, TheExpansionComesCloserToTheTruthWithTheThirdPowerOfTheSize) {
  const std::array<std::pair<std::uint64_t, double>, 4> limits{
      {{5, 6e-3}, {10, 8e-4}, {30, 3e-5}, {100, 1e-6}}};
  for (const auto& [n, limit] : limits) {
    for (const std::uint32_t k : {1u, 2u, 3u, 7u, 13u, 40u, 100u}) {
      const auto m = static_cast<std::uint64_t>(std::ceil(k * static_cast<double>(n) / std::log(2.0)));
      EXPECT_NEAR(ln_false_positive_probability_expansion(m, k, n),
                  ln_false_positive_probability_occupancy(m, k, n), limit)
          << m << ' ' << k << ' ' << n;
    }
  }
  TALLY_EXPECT_RELATIVE(false_positive_probability_expansion(1000, 1, 77),
                        false_positive_probability(1000, 1, 77), 1e-13);
}

TEST(BloomTheory, TheExpansionLosesNoDigitsInHugeFiltersAndKeepsToProbabilities) {
  for (const std::uint64_t m : {std::uint64_t{1} << 40, std::uint64_t{1} << 62}) {
    const double first = ln_false_positive_probability(m, 7, m / 10);
    EXPECT_GE(ln_false_positive_probability_expansion(m, 7, m / 10), first);
    TALLY_EXPECT_RELATIVE(ln_false_positive_probability_expansion(m, 7, m / 10), first, 1e-11);
  }
  for (const std::uint64_t m : {1, 2, 3, 4, 10}) {
    for (const std::uint32_t k : {1u, 5u, 1024u}) {
      for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{7}, ~std::uint64_t{0}}) {
        EXPECT_LE(false_positive_probability_expansion(m, k, n), 1.0) << m << ' ' << k << ' ' << n;
        EXPECT_GE(false_positive_probability_expansion(m, k, n), 0.0) << m << ' ' << k << ' ' << n;
      }
    }
  }
  EXPECT_EQ(ln_false_positive_probability_expansion(100, 3, 0), -infinity);
  TALLY_EXPECT_REFUSED(false_positive_probability_expansion(0, 1, 1), "m");
  TALLY_EXPECT_REFUSED(false_positive_probability_expansion(10, 0, 1), "k");
}

TEST(BloomTheory, TheOccupancyFormHoldsWhereItUnderflows) {
  // One key sets 1024 bits, and each position of the query must be one of them.
  const double value = ln_false_positive_probability_occupancy(std::uint64_t{1} << 60, 1024, 1);
  TALLY_EXPECT_RELATIVE(value, 1024 * (10 - 60) * std::log(2.0), 1e-12);
}

TEST(BloomTheory, HugeFiltersLoseNoDigits) {
  const std::uint64_t m = std::uint64_t{1} << 63;
  TALLY_EXPECT_RELATIVE(false_positive_probability(m, 1, 1), 0x1p-63, 1e-14);
  TALLY_EXPECT_RELATIVE(false_positive_probability_approximate(m, 1, 1), 0x1p-63, 1e-14);
  TALLY_EXPECT_RELATIVE(ln_false_positive_probability(m, 1024, 1), 1024 * std::log(1024 * 0x1p-63), 1e-13);
  TALLY_EXPECT_RELATIVE(false_positive_probability(m, 7, m / 10), 0.00819372, 1e-5);
  // k n passes 2^64.
  EXPECT_EQ(false_positive_probability(m, 1024, ~std::uint64_t{0}), 1.0);
}

TEST(BloomTheory, AnEmptyFilterHasNoFalsePositivesAndAOneBitFilterNothingElse) {
  EXPECT_EQ(false_positive_probability(100, 3, 0), 0.0);
  EXPECT_EQ(ln_false_positive_probability(100, 3, 0), -infinity);
  EXPECT_EQ(ln_false_positive_probability_occupancy(100, 3, 0), -infinity);
  EXPECT_EQ(ln_false_positive_probability_partitioned(3, 3, 0), -infinity);
  EXPECT_EQ(false_positive_probability(1, 3, 1), 1.0);
  EXPECT_EQ(false_positive_probability_occupancy(1, 3, 1), 1.0);
  EXPECT_EQ(false_positive_probability_partitioned(3, 3, 1), 1.0);
}

TEST(BloomTheory, MoreKeysAreNeverBetterAndMoreBitsNeverWorse) {
  for (const std::uint32_t k : {1u, 2u, 7u, 30u}) {
    for (std::uint64_t n = 1; n < 3000; n += 7) {
      EXPECT_LT(ln_false_positive_probability(1000, k, n), 0);
      EXPECT_LT(ln_false_positive_probability(1000, k, n), ln_false_positive_probability(1000, k, n + 1));
      EXPECT_GT(ln_false_positive_probability(1000, k, n), ln_false_positive_probability(1001, k, n));
    }
  }
}

TEST(BloomTheory, APartitionedFilterIsSimulatedInsideItsLimitsAndNeverBetterThanAWholeOne) {
  constexpr std::uint32_t k = 4;
  constexpr std::uint32_t part = 16;
  constexpr std::uint32_t n = 9;
  constexpr std::uint64_t trials = 200000;
  std::mt19937_64 random(20240601);
  std::uint64_t positives = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    bool positive = true;
    for (std::uint32_t i = 0; i < k; ++i) {
      std::uint32_t set = 0;
      for (std::uint32_t key = 0; key < n; ++key) set |= 1u << (random() % part);
      if (((set >> (random() % part)) & 1u) == 0) positive = false;
    }
    positives += positive;
  }
  // Two-sided, 99.9%. The parts are independent, so the formula is exact.
  const auto limits =
      binomial_acceptance_interval(false_positive_probability_partitioned(k * part, k, n), trials, 0.999);
  EXPECT_GE(positives, limits.low);
  EXPECT_LE(positives, limits.high);
  for (const std::uint32_t hashes : {2u, 5u, 11u}) {
    EXPECT_GT(false_positive_probability_partitioned(1000, hashes, 100),
              false_positive_probability(1000, hashes, 100));
  }
}

TEST(BloomTheory, TheBestWholeKBeatsItsNeighbours) {
  for (std::uint64_t m = 100; m < 40000; m += 333) {
    const std::uint32_t k = best_num_hashes(m, 1000);
    const double best = ln_false_positive_probability(m, k, 1000);
    EXPECT_LE(best, ln_false_positive_probability(m, k + 1, 1000));
    if (k > 1) {
      EXPECT_LE(best, ln_false_positive_probability(m, k - 1, 1000));
    }
    EXPECT_GE(ln_false_positive_probability_approximate(m, k, 1000),
              ln_best_false_positive_probability(m, 1000) * (1 + 1e-14));
  }
  EXPECT_EQ(best_num_hashes(1, 1000), 1u);
  EXPECT_EQ(best_num_hashes(std::uint64_t{1} << 63, 1), 1024u);
}

TEST(BloomTheory, TheBestRateFallsByAFactorOf06185PerBitAKey) {
  EXPECT_NEAR(best_false_positive_probability(1000, 1000), 0.6185, 5e-5);
  EXPECT_NEAR(best_false_positive_probability(10000, 1000), std::pow(0.6185, 10), 1e-5);
  EXPECT_DOUBLE_EQ(best_num_hashes_real(10000, 1000), 10 * std::log(2.0));
  EXPECT_NEAR(ln_best_false_positive_probability(1000000, 1), -1e6 * std::log(2.0) * std::log(2.0), 1e-6);
}

TEST(BloomTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(false_positive_probability(0, 1, 1), "m");
  TALLY_EXPECT_REFUSED(false_positive_probability(1, 0, 1), "k");
  TALLY_EXPECT_REFUSED(false_positive_probability(1, 1025, 1), "k");
  TALLY_EXPECT_REFUSED(false_positive_probability_approximate(0, 1, 1), "m");
  TALLY_EXPECT_REFUSED(false_positive_probability_approximate(1, 0, 1), "k");
  TALLY_EXPECT_REFUSED(false_positive_probability_occupancy(0, 1, 1), "m");
  TALLY_EXPECT_REFUSED(false_positive_probability_occupancy(10, 1, ~std::uint64_t{0}), "n");
  TALLY_EXPECT_REFUSED(false_positive_probability_partitioned(3, 4, 1), "m");
  TALLY_EXPECT_REFUSED(false_positive_probability_partitioned(3, 0, 1), "k");
  TALLY_EXPECT_REFUSED(best_num_hashes(0, 1), "m");
  TALLY_EXPECT_REFUSED(best_num_hashes(1, 0), "n");
  TALLY_EXPECT_REFUSED(best_num_hashes_real(1, 0), "n");
  TALLY_EXPECT_REFUSED(best_false_positive_probability(1, 0), "n");
}

}  // namespace
}  // namespace tally::theory

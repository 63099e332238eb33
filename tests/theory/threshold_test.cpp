#include "tally/theory/threshold.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "tally/theory/bloom.hpp"
#include "tally/theory/confidence.hpp"
#include "tally/theory/kappa_star.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(ThresholdTheory, EveryReferenceRowIsMetTo1e9OnTheLogarithm) {
  const auto rows = test::read_csv("threshold_fpr.csv");
  ASSERT_GE(rows.size(), 300u);
  for (const auto& row : rows) {
    const auto theta = static_cast<std::uint64_t>(row.at("theta"));
    const auto k = static_cast<std::uint32_t>(row.at("k"));
    const auto n = static_cast<std::uint64_t>(row.at("n"));
    const auto m = static_cast<std::uint64_t>(row.at("m"));
    TALLY_EXPECT_RELATIVE(ln_threshold_false_positive_probability(theta, k, n, m), row.at("ln_exact"), 1e-9);
    TALLY_EXPECT_RELATIVE(ln_threshold_false_positive_probability_approximate(theta, k, n, m),
                          row.at("ln_approx"), 1e-9);
  }
}

TEST(ThresholdTheory, ThresholdOneIsTheBloomFilter) {
  for (const std::uint32_t k : {1u, 4u, 11u}) {
    TALLY_EXPECT_RELATIVE(ln_threshold_false_positive_probability(1, k, 1000, 9000),
                          ln_false_positive_probability(9000, k, 1000), 1e-12);
    TALLY_EXPECT_RELATIVE(ln_threshold_false_positive_probability_approximate(1, k, 1000, 9000),
                          ln_false_positive_probability_approximate(9000, k, 1000), 1e-12);
  }
}

TEST(ThresholdTheory, WithOneHashItIsTheShareOfAllOutcomes) {
  for (unsigned n = 0; n <= 7; ++n) {
    for (unsigned theta = 1; theta <= 4; ++theta) {
      double reached = 0;
      double outcomes = 0;
      test::for_every_outcome(3, n, [&](const std::vector<unsigned>& positions) {
        unsigned counter = 0;
        for (const unsigned position : positions) counter += position == 0;
        reached += counter >= theta;
        ++outcomes;
      });
      EXPECT_NEAR(threshold_false_positive_probability(theta, 1, n, 3), reached / outcomes, 1e-14);
    }
  }
}

TEST(ThresholdTheory, SimulationMeetsItForEveryTrueCount) {
  constexpr std::uint32_t k = 3;
  constexpr std::uint32_t n = 4000;
  constexpr std::uint32_t m = 6000;
  constexpr std::uint32_t theta = 4;
  constexpr std::uint64_t filters = 40;
  constexpr std::uint64_t queries = 20000;
  std::mt19937_64 random(7);
  std::uint64_t positives[theta] = {};
  for (std::uint64_t filter = 0; filter < filters; ++filter) {
    std::vector<std::uint32_t> counters(m);
    for (std::uint32_t i = 0; i < k * n; ++i) ++counters[random() % m];
    for (std::uint64_t query = 0; query < queries; ++query) {
      std::uint32_t least = 1000;
      for (std::uint32_t i = 0; i < k; ++i) least = std::min(least, counters[random() % m]);
      for (std::uint32_t t = 0; t < theta; ++t) positives[t] += least + t >= theta;
    }
  }
  for (std::uint32_t t = 0; t < theta; ++t) {
    // 99.9% for the four together. Queries of one filter share its fill, whose spread is about 1% of the
    // rate here: three such standard errors over 40 filters are allowed on top.
    const double p = threshold_false_positive_probability(theta, k, n, m, t);
    const auto limits = binomial_acceptance_interval(p, filters * queries, per_test_confidence(0.999, theta));
    const double slack = 3 * 0.01 * p * filters * queries / std::sqrt(filters);
    EXPECT_GE(static_cast<double>(positives[t]), static_cast<double>(limits.low) - slack) << t;
    EXPECT_LE(static_cast<double>(positives[t]), static_cast<double>(limits.high) + slack) << t;
  }
}

TEST(ThresholdTheory, TheTrueCountLowersTheThreshold) {
  for (std::uint64_t t = 0; t < 5; ++t) {
    EXPECT_EQ(ln_threshold_false_positive_probability(5, 4, 100, 500, t),
              ln_threshold_false_positive_probability(5 - t, 4, 100, 500));
    EXPECT_EQ(ln_threshold_false_positive_probability_approximate(5, 4, 100, 500, t),
              ln_threshold_false_positive_probability_approximate(5 - t, 4, 100, 500));
  }
}

TEST(ThresholdTheory, ThePoissonFormIsWithin048PercentAtTheBestKInALargeFilter) {
  for (std::uint64_t theta = 1; theta <= 10; ++theta) {
    const std::uint64_t m = 10000000;
    const std::uint64_t n = 1000000;
    const std::uint32_t k = best_num_hashes_threshold(theta, n, m);
    EXPECT_LT(std::fabs(std::expm1(ln_threshold_false_positive_probability_approximate(theta, k, n, m) -
                                   ln_threshold_false_positive_probability(theta, k, n, m))),
              0.0048)
        << theta;
  }
  // It is no law: in a small filter the same error is 27%.
  const std::uint32_t k = best_num_hashes_threshold(10, 100, 1000);
  EXPECT_NEAR(std::expm1(ln_threshold_false_positive_probability_approximate(10, k, 100, 1000) -
                         ln_threshold_false_positive_probability(10, k, 100, 1000)),
              0.27, 0.005);
}

TEST(ThresholdTheory, TheBestKIsTheLeastOfAll) {
  for (const std::uint64_t theta : {1u, 2u, 3u, 10u, 30u}) {
    for (const std::uint64_t m : {200u, 1000u, 4000u, 20000u}) {
      const std::uint32_t best = best_num_hashes_threshold(theta, 1000, m);
      const double least = ln_threshold_false_positive_probability_approximate(theta, best, 1000, m);
      // The erratum of section 3.3: the search ends at (theta + 1) m / n, not n / m.
      for (std::uint32_t k = 1; k <= (theta + 1) * m / 1000 + 1 && k <= 1024; ++k) {
        EXPECT_LE(least, ln_threshold_false_positive_probability_approximate(theta, k, 1000, m))
            << theta << m << k;
      }
    }
  }
  EXPECT_EQ(best_num_hashes_threshold(1, 1000, 10), 1u);
  EXPECT_EQ(best_num_hashes_threshold(100, 1, 1000000), 1024u);
  EXPECT_EQ(best_num_hashes_threshold(1, 1000, 10000), 7u);
}

TEST(ThresholdTheory, HugeNumbersAndEmptyFiltersHaveTheirLimits) {
  const std::uint64_t m = std::uint64_t{1} << 63;
  TALLY_EXPECT_RELATIVE(ln_threshold_false_positive_probability(2, 3, m / 10, m),
                        ln_threshold_false_positive_probability_approximate(2, 3, m / 10, m), 1e-12);
  EXPECT_EQ(threshold_false_positive_probability(3, 3, 0, 10), 0.0);
  EXPECT_EQ(ln_threshold_false_positive_probability(3, 3, 0, 10), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(threshold_false_positive_probability(3, 3, 1, 1), 1.0);
  EXPECT_EQ(threshold_false_positive_probability(3, 2, 1, 1), 0.0);
  EXPECT_EQ(threshold_false_positive_probability(3, 1024, ~std::uint64_t{0}, 10), 1.0);
}

TEST(ThresholdTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability(0, 1, 1, 1), "theta");
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability(~std::uint64_t{0}, 1, 1, 1), "theta");
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability(1, 0, 1, 1), "k");
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability(1, 1025, 1, 1), "k");
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability(1, 1, 1, 0), "m");
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability(2, 1, 1, 1, 2), "true_count");
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability_approximate(0, 1, 1, 1), "theta");
  TALLY_EXPECT_REFUSED(threshold_false_positive_probability_approximate(2, 1, 1, 1, 3), "true_count");
  TALLY_EXPECT_REFUSED(best_num_hashes_threshold(0, 1, 1), "theta");
  TALLY_EXPECT_REFUSED(best_num_hashes_threshold(1, 0, 1), "n");
  TALLY_EXPECT_REFUSED(best_num_hashes_threshold(1, 1, 0), "m");
}

}  // namespace
}  // namespace tally::theory

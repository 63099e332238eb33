#include "tally/theory/estimate.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(EstimateTheory, SimulatedFiltersHaveTheMeanAndTheSpreadItStates) {
  struct Case {
    std::uint64_t m;
    std::uint32_t k;
    std::uint64_t n;
  };
  std::mt19937_64 random(5);
  for (const auto [m, k, n] : {Case{4096, 4, 700}, Case{4096, 1, 4096}, Case{2048, 7, 600}}) {
    constexpr int filters = 2000;
    double sum = 0;
    double sum_of_squares = 0;
    double stated = 0;
    for (int filter = 0; filter < filters; ++filter) {
      std::vector<bool> bits(m);
      for (std::uint64_t i = 0; i < k * n; ++i) bits[random() % m] = true;
      std::uint64_t zeros = 0;
      for (const bool bit : bits) zeros += !bit;
      const auto estimate = estimate_distinct_keys(m, k, zeros);
      sum += estimate.num_keys;
      sum_of_squares += estimate.num_keys * estimate.num_keys;
      stated += estimate.standard_error / filters;
    }
    const double mean = sum / filters;
    const double spread = std::sqrt(sum_of_squares / filters - mean * mean);
    const double kappa = static_cast<double>(k * n) / static_cast<double>(m);
    const double bias = (std::expm1(kappa) - kappa) / (2 * k);
    // Four standard errors of a mean and of a spread over 2000 filters: both fail with chance below 2e-4.
    EXPECT_NEAR(mean, static_cast<double>(n) + bias, 4 * spread / std::sqrt(filters));
    EXPECT_NEAR(spread / stated, 1.0, 4 / std::sqrt(2.0 * filters));
  }
}

TEST(EstimateTheory, EmptyAndFullFiltersAreTheEndPoints) {
  EXPECT_EQ(estimate_distinct_keys(100, 3, 100).num_keys, 0.0);
  EXPECT_EQ(estimate_distinct_keys(100, 3, 100).standard_error, 0.0);
  EXPECT_TRUE(std::isinf(estimate_distinct_keys(100, 3, 0).num_keys));
  EXPECT_TRUE(std::isinf(estimate_distinct_keys(100, 3, 0).standard_error));
}

TEST(EstimateTheory, NearlyEmptyHugeFiltersLoseNoDigits) {
  const std::uint64_t m = std::uint64_t{1} << 50;
  TALLY_EXPECT_RELATIVE(estimate_distinct_keys(m, 4, m - 4).num_keys, 1.0, 1e-12);
  // sqrt(m kappa^2 / 2) / k with kappa = 4 / m
  TALLY_EXPECT_RELATIVE(estimate_distinct_keys(m, 4, m - 4).standard_error,
                        std::sqrt(0.5 / static_cast<double>(m)), 1e-12);
  // Both branches of the standard error meet.
  TALLY_EXPECT_RELATIVE(estimate_distinct_keys(1000000000, 1, 1000000000 - 99995).standard_error / 99995.0,
                        estimate_distinct_keys(1000000000, 1, 1000000000 - 100005).standard_error / 100005.0,
                        1e-7);
}

TEST(EstimateTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(estimate_distinct_keys(0, 1, 0), "m");
  TALLY_EXPECT_REFUSED(estimate_distinct_keys(1, 0, 0), "k");
  TALLY_EXPECT_REFUSED(estimate_distinct_keys(1, 1025, 0), "k");
  TALLY_EXPECT_REFUSED(estimate_distinct_keys(10, 1, 11), "zeros");
}

}  // namespace
}  // namespace tally::theory

#include "tally/theory/rate_concentration.hpp"

#include <limits>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(RateConcentrationTheory, TheBoundIsHoeffdingsForTheDoobMartingale) {
  // n = 5000, c = 8, k = 6: lambda = 4.5; 2 exp(-2 5000 0.05^2 / 20.25).
  EXPECT_NEAR(rate_deviation_bound(5000, 4.5, 0, 0.05, 0), 0.58192, 1e-5);
  EXPECT_NEAR(rate_deviation_bound(5000, 4.5, 0, 0.06, 0.01), 0.58192, 1e-5);
  EXPECT_NEAR(rate_deviation_bound(5000, 0.5, 20, 0.05, 0), 0.58192, 1e-5);
  EXPECT_EQ(rate_deviation_bound(5000, 4.5, 0, 0.01, 0), 1);
  EXPECT_EQ(rate_deviation_bound(5000, 4.5, 0, 0.05, 0.06), 1);
}

TEST(RateConcentrationTheory, QueriesAddTheirOwnScatter) {
  EXPECT_NEAR(measured_rate_deviation_bound(5000, 4.5, 0, 0.1, 0, 464),
              2 * std::exp(-464 * 0.005) + rate_deviation_bound(5000, 4.5, 0, 0.05, 0), 1e-12);
  EXPECT_EQ(measured_rate_deviation_bound(5000, 4.5, 0, 0.05, 0, 464), 1);
}

TEST(RateConcentrationTheory, TheDeviationInvertsTheBound) {
  for (const double delta : {0.5, 1e-3, 1e-9}) {
    const double epsilon = rate_deviation(5000, 4.5, 1, 1e-4, delta);
    TALLY_EXPECT_RELATIVE(rate_deviation_bound(5000, 4.5, 1, epsilon, 1e-4), delta, 1e-9);
  }
}

TEST(RateConcentrationTheory, BadParametersAreRefusedByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 0, 0, 0.1, 0), "lambda");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, nan, 0, 0.1, 0), "lambda");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 1, -1, 0.1, 0), "xi");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 1, 0, 0, 0), "epsilon");
  TALLY_EXPECT_REFUSED(measured_rate_deviation_bound(1, 1, 0, nan, 0, 1), "epsilon");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 1, 0, 1, -1), "bias");
  TALLY_EXPECT_REFUSED(rate_deviation(0, 1, 0, 0, 0.1), "n");
  TALLY_EXPECT_REFUSED(rate_deviation(1, 1, 0, 0, 1), "delta");
}

}  // namespace
}  // namespace tally::theory

#include "tally/theory/confidence.hpp"

#include <cmath>
#include <limits>

#include "tally/theory/tails.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(ConfidenceTheory, TheLimitsLeaveHalfTheDoubtOnEachSide) {
  for (const std::uint64_t trials : {1u, 10u, 1000u, 1000000u}) {
    for (const std::uint64_t successes : {std::uint64_t{0}, trials / 10, trials / 2, trials}) {
      const auto limits = binomial_confidence_limits(successes, trials, 0.99);
      const auto size = static_cast<double>(trials);
      EXPECT_LE(limits.low, limits.high);
      if (successes > 0) {
        EXPECT_NEAR(std::exp(ln_binomial_upper_tail(successes, size, limits.low)), 0.005, 1e-8);
      } else {
        EXPECT_EQ(limits.low, 0.0);
      }
      if (successes < trials) {
        EXPECT_NEAR(std::exp(ln_binomial_lower_tail(successes + 1, size, limits.high)), 0.005, 1e-8);
      } else {
        EXPECT_EQ(limits.high, 1.0);
      }
    }
  }
  // None in n: the upper limit is 1 - (side)^(1/n).
  TALLY_EXPECT_RELATIVE(binomial_confidence_limits(0, 300, 0.9).high, 1 - std::pow(0.05, 1 / 300.0), 1e-12);
}

TEST(ConfidenceTheory, TheAcceptanceIntervalIsTheNarrowestWithItsConfidence) {
  for (const double p : {0.0001, 0.03, 0.5, 0.9}) {
    for (const std::uint64_t trials : {10u, 464u, 100000u}) {
      const auto interval = binomial_acceptance_interval(p, trials, 0.999);
      const auto size = static_cast<double>(trials);
      const double side = std::log(0.0005);
      EXPECT_LE(ln_binomial_lower_tail(interval.low, size, p), side);
      EXPECT_GT(ln_binomial_lower_tail(interval.low + 1, size, p), side);
      EXPECT_LE(ln_binomial_upper_tail(interval.high + 1, size, p), side);
      if (interval.high > 0) {
        EXPECT_GT(ln_binomial_upper_tail(interval.high, size, p), side);
      }
    }
  }
  EXPECT_EQ(binomial_acceptance_interval(0, 100, 0.9).high, 0u);
  EXPECT_EQ(binomial_acceptance_interval(1, 100, 0.9).low, 100u);
  EXPECT_EQ(binomial_acceptance_interval(1, 100, 0.9).high, 100u);
  EXPECT_EQ(binomial_acceptance_interval(0.5, 0, 0.9).high, 0u);
}

TEST(ConfidenceTheory, ManyTestsTogetherKeepTheFamilysConfidence) {
  EXPECT_DOUBLE_EQ(per_test_confidence(0.999, 1), 0.999);
  EXPECT_NEAR(1 - per_test_confidence(0.999, 100), 1e-5, 1e-16);
  EXPECT_GE(std::pow(per_test_confidence(0.9, 50), 50), 0.9);
}

TEST(ConfidenceTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(binomial_confidence_limits(0, 0, 0.9), "trials");
  TALLY_EXPECT_REFUSED(binomial_confidence_limits(2, 1, 0.9), "successes");
  TALLY_EXPECT_REFUSED(per_test_confidence(0.9, 0), "num_tests");
  TALLY_EXPECT_REFUSED(binomial_acceptance_interval(0.5, ~std::uint64_t{0}, 0.9), "trials");
  for (const double bad : {-0.5, 1.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    TALLY_EXPECT_REFUSED(binomial_confidence_limits(0, 1, bad), "confidence");
    TALLY_EXPECT_REFUSED(binomial_acceptance_interval(0.5, 1, bad), "confidence");
    TALLY_EXPECT_REFUSED(binomial_acceptance_interval(bad, 1, 0.9), "p");
    TALLY_EXPECT_REFUSED(per_test_confidence(bad, 1), "family_confidence");
  }
}

}  // namespace
}  // namespace tally::theory

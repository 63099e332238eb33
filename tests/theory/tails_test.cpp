#include "tally/theory/tails.hpp"

#include <cmath>
#include <limits>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(TailsTheory, TheBinomialPointsAreTheWholeLaw) {
  for (const double p : {0.001, 0.3, 0.5, 0.97}) {
    double lower = 0;
    for (std::uint64_t x = 0; x <= 40; ++x) {
      TALLY_EXPECT_RELATIVE(std::exp(ln_binomial_lower_tail(x, 40, p)) + 1, lower + 1, 1e-14);
      TALLY_EXPECT_RELATIVE(std::exp(ln_binomial_upper_tail(x, 40, p)) + 1, 1 - lower + 1, 1e-14);
      lower += std::exp(ln_binomial_point(x, 40, p));
    }
    EXPECT_NEAR(lower, 1.0, 1e-14);
  }
  TALLY_EXPECT_RELATIVE(ln_binomial_point(3, 5, 0.25), std::log(10 * 0.25 * 0.25 * 0.25 * 0.75 * 0.75),
                        1e-14);
}

TEST(TailsTheory, ThePoissonTailHasItsClosedForms) {
  for (const double kappa : {1e-300, 1e-12, 0.1, 0.6}) {
    TALLY_EXPECT_RELATIVE(ln_poisson_upper_tail(1, kappa), std::log(-std::expm1(-kappa)), 1e-13);
  }
  for (const double kappa : {1.0, 3.0, 20.0, 600.0}) {
    TALLY_EXPECT_RELATIVE(ln_poisson_upper_tail(1, kappa), std::log1p(-std::exp(-kappa)), 1e-13);
    TALLY_EXPECT_RELATIVE(ln_poisson_lower_tail(2, kappa), std::log1p(kappa) - kappa, 1e-13);
  }
  TALLY_EXPECT_RELATIVE(ln_poisson_upper_tail(1000, 1e-9), 1000 * std::log(1e-9) - std::lgamma(1001.0),
                        1e-12);
}

TEST(TailsTheory, UpperAndLowerTailAddUpToOneOnBothSidesOfTheMean) {
  for (const double mean : {0.5, 10.0, 1000.5, 1e6, 1e12}) {
    for (const double deviations : {-3.0, -0.5, 0.0, 0.5, 3.0}) {
      const auto theta = static_cast<std::uint64_t>(std::max(1.0, mean + deviations * std::sqrt(mean)));
      EXPECT_NEAR(std::exp(ln_poisson_upper_tail(theta, mean)) + std::exp(ln_poisson_lower_tail(theta, mean)),
                  1, 1e-9);
      EXPECT_NEAR(std::exp(ln_binomial_upper_tail(theta, std::ceil(mean * 4), 0.25)) +
                      std::exp(ln_binomial_lower_tail(theta, std::ceil(mean * 4), 0.25)),
                  1, 1e-9);
    }
  }
  // Far out, at a mean where a plain lgamma form would have lost every digit.
  EXPECT_NEAR(std::exp(ln_poisson_upper_tail(1000000000000, 1e12)), 0.5, 1e-6);
}

TEST(TailsTheory, TheBinomialTendsToThePoisson) {
  for (const std::uint64_t theta : {1u, 5u, 40u}) {
    TALLY_EXPECT_RELATIVE(ln_binomial_upper_tail(theta, 0x1p60, 0x1p-59), ln_poisson_upper_tail(theta, 2.0),
                          1e-13);
  }
}

TEST(TailsTheory, CertaintiesAreExact) {
  EXPECT_EQ(ln_poisson_upper_tail(0, 3), 0.0);
  EXPECT_EQ(ln_poisson_lower_tail(0, 3), -infinity);
  EXPECT_EQ(ln_poisson_upper_tail(1, 0), -infinity);
  EXPECT_EQ(ln_poisson_lower_tail(1, 0), 0.0);
  EXPECT_EQ(ln_poisson_point(0, 0), 0.0);
  EXPECT_EQ(ln_poisson_point(2, 0), -infinity);
  EXPECT_EQ(ln_binomial_upper_tail(11, 10, 0.5), -infinity);
  EXPECT_EQ(ln_binomial_lower_tail(11, 10, 0.5), 0.0);
  EXPECT_EQ(ln_binomial_upper_tail(10, 10, 1), 0.0);
  EXPECT_EQ(ln_binomial_lower_tail(10, 10, 1), -infinity);
  EXPECT_EQ(ln_binomial_upper_tail(1, 10, 0), -infinity);
  EXPECT_EQ(ln_binomial_lower_tail(1, 10, 0), 0.0);
  EXPECT_EQ(ln_binomial_lower_tail(0, 0, 0.5), -infinity);
}

TEST(TailsTheory, BadParametersAreRefusedByName) {
  const std::uint64_t huge = (std::uint64_t{1} << 40) + 1;
  for (const double bad : {-1.0, not_a_number, infinity, -infinity}) {
    TALLY_EXPECT_REFUSED(ln_poisson_point(1, bad), "kappa");
    TALLY_EXPECT_REFUSED(ln_poisson_upper_tail(1, bad), "kappa");
    TALLY_EXPECT_REFUSED(ln_poisson_lower_tail(1, bad), "kappa");
    TALLY_EXPECT_REFUSED(ln_binomial_point(1, bad, 0.5), "trials");
    TALLY_EXPECT_REFUSED(ln_binomial_upper_tail(1, bad, 0.5), "trials");
    TALLY_EXPECT_REFUSED(ln_binomial_lower_tail(1, bad, 0.5), "trials");
    TALLY_EXPECT_REFUSED(ln_binomial_upper_tail(1, 10, bad), "p");
  }
  TALLY_EXPECT_REFUSED(ln_binomial_upper_tail(1, 10.5, 0.5), "trials");
  TALLY_EXPECT_REFUSED(ln_binomial_upper_tail(1, 10, 1.5), "p");
  TALLY_EXPECT_REFUSED(ln_binomial_upper_tail(huge, 10, 0.5), "theta");
  TALLY_EXPECT_REFUSED(ln_poisson_upper_tail(huge, 10), "theta");
}

}  // namespace
}  // namespace tally::theory

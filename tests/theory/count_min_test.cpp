#include "tally/theory/count_min.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "theory_test_support.hpp"

namespace tally::theory::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(CountMinTheory, TheClassicBoundIsTheProductOfMarkovBoundsOfTheRows) {
  TALLY_EXPECT_RELATIVE(count_min_failure_probability(1000, 1, 0.01), 0.1, 1e-14);
  TALLY_EXPECT_RELATIVE(count_min_failure_probability(1000, 4, 0.01), 1e-4, 1e-13);
  TALLY_EXPECT_RELATIVE(count_min_failure_probability(2719, 5, std::numbers::e / 2719), std::exp(-5), 1e-13);
  TALLY_EXPECT_RELATIVE(count_min_failure_probability(100, 4, 0.01), 1.0, 1e-13);
  EXPECT_EQ(count_min_failure_probability(100, 4, 0.001), 1.0);
  TALLY_EXPECT_RELATIVE(ln_count_min_failure_probability(1000, 1024, 0.01), -1024 * std::numbers::ln10,
                        1e-13);
}

TEST(CountMinTheory, WidthAndDepthAreTheLeastOfTheTheorem) {
  EXPECT_EQ(count_min_width(0.001), 2719u);
  EXPECT_EQ(count_min_depth(0.01), 5u);
  EXPECT_EQ(count_min_depth(0.9), 1u);
  for (const double epsilon : {0.5, 0.03, 0.0004}) {
    for (const double delta : {0.3, 0.01, 1e-9}) {
      const auto w = count_min_width(epsilon);
      const auto d = count_min_depth(delta);
      EXPECT_LE(count_min_failure_probability(w, d, epsilon), delta);
      EXPECT_LT(static_cast<double>(w - 1), std::numbers::e / epsilon);
      EXPECT_LT(d - 1, -std::log(delta));
    }
  }
}

TEST(CountMinTheory, TheTwoHashBoundIsThatOfTheorem9Point1) {
  // w = 1009, depth 4, epsilon 0.01: 2 / (epsilon w^2) = 1.964480e-4, (2 / (w epsilon))^4 = 1.543673e-3.
  const double same = 2 / (0.01 * 1009.0 * 1009.0);
  const double rows = std::pow(2 / (1009 * 0.01), 4);
  TALLY_EXPECT_RELATIVE(count_min_two_hash_failure_probability(1009, 4, 0.01), same + rows, 1e-13);
  TALLY_EXPECT_RELATIVE(same, 1.964480e-4, 1e-6);
  TALLY_EXPECT_RELATIVE(rows, 1.543673e-3, 1e-6);
  TALLY_EXPECT_RELATIVE(count_min_two_hash_failure_probability(1009, 4, 0.01, 3), std::pow(same + rows, 3),
                        1e-13);
  EXPECT_EQ(count_min_two_hash_failure_probability(11, 4, 0.01), 1.0);
}

TEST(CountMinTheory, WithTheTheoremsWidthAndDepthOneCopyFailsWithEpsilonAtMost) {
  for (const double epsilon : {0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-12}) {
    const auto w = count_min_two_hash_width(epsilon);
    const auto d = count_min_two_hash_depth(epsilon);
    EXPECT_LE(count_min_two_hash_failure_probability(w, d, epsilon), epsilon) << epsilon;
    EXPECT_EQ(w, static_cast<std::uint64_t>(std::ceil(2 * std::numbers::e / epsilon)));
    if (d > 1 && epsilon <= 0.01) {
      EXPECT_GT(count_min_two_hash_failure_probability(w, d - 1, epsilon), epsilon) << epsilon;
    }
  }
  EXPECT_EQ(count_min_two_hash_depth(0.001), 7u);  // ln(1000 / 0.9323) = 6.978
}

TEST(CountMinTheory, CopiesReachASmallerDelta) {
  EXPECT_EQ(count_min_two_hash_copies(0.01, 0.01), 1u);
  EXPECT_EQ(count_min_two_hash_copies(0.01, 0.5), 1u);
  EXPECT_EQ(count_min_two_hash_copies(0.01, 1e-5), 3u);
  for (const double epsilon : {0.5, 0.02, 0.0003}) {
    for (const double delta : {0.3, 1e-3, 1e-15}) {
      const auto w = count_min_two_hash_width(epsilon);
      const auto d = count_min_two_hash_depth(epsilon);
      const auto copies = count_min_two_hash_copies(epsilon, delta);
      EXPECT_LE(count_min_two_hash_failure_probability(w, d, epsilon, copies), delta * (1 + 1e-12));
    }
  }
}

// w/e keys of weight epsilon N, epsilon = e/w, so that meeting one in a row is too much; depth 4. Rows apart: each has a
// Poisson number of them, of mean 1/e. In one line: the line has a Poisson number of mean 4/e, and each of those is met
// in each row with a chance of 1/4.
TEST(CountMinTheory, FourRowsInOneLineWouldFailFourTimesAsOften) {
  const double apart = std::pow(-std::expm1(-1 / std::numbers::e), 4);
  const double mean = 4 / std::numbers::e;
  double together = 0;
  for (int num_keys = 0; num_keys < 60; ++num_keys) {
    const double probability = std::exp(num_keys * std::log(mean) - mean - std::lgamma(num_keys + 1.0));
    together += probability * std::pow(1 - std::pow(0.75, num_keys), 4);
  }
  EXPECT_NEAR(apart, 0.009, 0.0005);
  EXPECT_NEAR(together, 0.040, 0.0005);
}

TEST(CountMinTheory, ParametersOutOfRangeAreRefused) {
  TALLY_EXPECT_REFUSED(count_min_failure_probability(0, 1, 0.1), "w");
  TALLY_EXPECT_REFUSED(count_min_failure_probability(1, 0, 0.1), "depth");
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    TALLY_EXPECT_REFUSED(count_min_failure_probability(1, 1, bad), "epsilon");
    TALLY_EXPECT_REFUSED(count_min_two_hash_failure_probability(1, 1, bad), "epsilon");
  }
  TALLY_EXPECT_REFUSED(count_min_two_hash_failure_probability(0, 1, 0.1), "w");
  TALLY_EXPECT_REFUSED(count_min_two_hash_failure_probability(1, 1, 0.1, 0), "num_copies");
  for (const double bad : {0.0, 1.0, -1.0, nan}) {
    TALLY_EXPECT_REFUSED(count_min_width(bad), "epsilon");
    TALLY_EXPECT_REFUSED(count_min_depth(bad), "delta");
    TALLY_EXPECT_REFUSED(count_min_two_hash_width(bad), "epsilon");
    TALLY_EXPECT_REFUSED(count_min_two_hash_depth(bad), "epsilon");
    TALLY_EXPECT_REFUSED(count_min_two_hash_copies(bad, 0.1), "epsilon");
    TALLY_EXPECT_REFUSED(count_min_two_hash_copies(0.1, bad), "delta");
  }
  TALLY_EXPECT_REFUSED(count_min_width(1e-17), "epsilon");
  TALLY_EXPECT_REFUSED(count_min_two_hash_width(5e-17), "epsilon");
}

}  // namespace
}  // namespace tally::theory::test

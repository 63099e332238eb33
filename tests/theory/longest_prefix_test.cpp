#include "tally/theory/longest_prefix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tally::theory {
namespace {

TEST(LongestPrefixLaw, IsThatOfBlocksThatPassOneAfterTheOther) {
  EXPECT_DOUBLE_EQ(overstated_prefix_probability(0.01, 0), 1);
  EXPECT_DOUBLE_EQ(overstated_prefix_probability(0.01, 1), 0.01);
  EXPECT_DOUBLE_EQ(overstated_prefix_probability(0.5, 3), 0.125);
  EXPECT_NEAR(overstated_prefix_probability(0.01, 2, 1000), -std::expm1(1000 * std::log1p(-1e-4)), 1e-14);
  EXPECT_EQ(overstated_prefix_probability(0, 1), 0);
  EXPECT_EQ(overstated_prefix_probability(1, 100), 1);
}

TEST(LongestPrefixLaw, StaysFiniteWhereItUnderflows) {
  EXPECT_DOUBLE_EQ(ln_overstated_prefix_probability(0.01, 500, 1), 500 * std::log(0.01));
  EXPECT_DOUBLE_EQ(ln_overstated_prefix_probability(0.01, 500, 1000),
                   500 * std::log(0.01) + std::log(1000.0));
  EXPECT_EQ(overstated_prefix_probability(0.01, 500, 1000), 0);
}

TEST(LongestPrefixLaw, TheMeanIsTheSumOfTheProbabilities) {
  for (const double f : {0.0, 1e-12, 0.01, 0.9, 1.0}) {
    double sum = 0;
    for (std::uint64_t j = 1; j <= 20; ++j) sum += overstated_prefix_probability(f, j);
    EXPECT_NEAR(mean_overstated_blocks(f, 20), sum, 1e-12 * (1 + sum)) << f;
  }
  EXPECT_EQ(mean_overstated_blocks(0.5, 0), 0);
}

TEST(LongestPrefixLaw, RefusesWhatIsOutOfRange) {
  for (const double f : {-0.1, 1.1, std::nan("")}) {
    EXPECT_THROW((void)overstated_prefix_probability(f, 1), std::invalid_argument);
    EXPECT_THROW((void)mean_overstated_blocks(f, 1), std::invalid_argument);
  }
  EXPECT_THROW((void)overstated_prefix_probability(0.1, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace tally::theory

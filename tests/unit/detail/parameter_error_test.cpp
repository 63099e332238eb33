#include "tally/detail/parameter_error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "support/expect_refused.hpp"

namespace tally::detail {
namespace {

using test::expect_refused;

TEST(ParameterError, SaysWhereWhatValueAndRange) {
  expect_refused([] { require_in_range("BloomFilter", "num_hashes", std::uint32_t{1025}, 1, 1024); },
                 {"BloomFilter: num_hashes is 1025; must be 1 to 1024"});
  expect_refused([] { require_in_range("X", "y", std::uint64_t{0}, 1, ~std::uint64_t{0}); },
                 {"X: y is 0; must be 1 to 18446744073709551615"});
}

TEST(ParameterError, RangesIncludeTheirEnds) {
  EXPECT_NO_THROW(require_in_range("X", "y", 1, 1, 3));
  EXPECT_NO_THROW(require_in_range("X", "y", 3, 1, 3));
  expect_refused([] { require_in_range("X", "y", 0, 1, 3); }, {"y is 0"});
  expect_refused([] { require_in_range("X", "y", 4, 1, 3); }, {"y is 4"});
}

TEST(ParameterError, ASmallIntegerIsWrittenAsANumber) {
  expect_refused([] { require_in_range("X", "y", std::uint8_t{65}, std::uint8_t{1}, std::uint8_t{7}); },
                 {"y is 65; must be 1 to 7"});
}

TEST(ParameterError, NotANumberIsInNoRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refused([&] { require_in_range("X", "y", nan, 0.0, 1.0); }, {"y is nan; must be 0 to 1"});
  expect_refused([&] { require_probability("X", "rate", nan); }, {"rate is nan"});
}

TEST(ParameterError, AProbabilityIsAboveZeroAndBelowOne) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_NO_THROW(require_probability("X", "rate", 0.5));
  EXPECT_NO_THROW(require_probability("X", "rate", std::numeric_limits<double>::denorm_min()));
  for (const double bad : {0.0, -0.0, 1.0, -1.0, 2.0, infinity, -infinity}) {
    expect_refused([&] { require_probability("X", "rate", bad); },
                   {"X: rate is ", "must be above 0 and below 1"});
  }
}

TEST(ParameterError, ADifferenceNamesFieldAndBothValues) {
  EXPECT_NO_THROW(require_same("X", "seed", 1, 1));
  expect_refused([] { require_same("X", "seed", 1, 2); },
                 {"X: cannot merge: seed is 1 here and 2 there; make both with the same"});
}

}  // namespace
}  // namespace tally::detail

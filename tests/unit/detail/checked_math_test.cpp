#include "tally/detail/checked_math.hpp"

#include <gtest/gtest.h>

#include "support/expect_refused.hpp"

namespace tally::detail {
namespace {

constexpr std::uint64_t last = ~std::uint64_t{0};

TEST(CheckedMath, AProductThatDoesNotFitIsRefusedAndNamed) {
  EXPECT_EQ(checked_mul(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1, "x"), last - 0xffffffff);
  EXPECT_EQ(checked_mul(0, last, "x"), 0u);
  test::expect_refused([] { checked_mul(std::uint64_t{1} << 32, std::uint64_t{1} << 32, "memory in bytes"); },
                       {"memory in bytes: 4294967296 x 4294967296 does not fit in 64 bits"});
}

TEST(CheckedMath, ASumSaturates) {
  EXPECT_EQ(saturating_add(1, 2), 3u);
  EXPECT_EQ(saturating_add(last - 1, 1), last);
  EXPECT_EQ(saturating_add(last, 1), last);
  EXPECT_EQ(saturating_add(last, last), last);
}

TEST(CheckedMath, RoundsUpToWholeUnits) {
  EXPECT_EQ(ceil_div(0, 8), 0u);
  EXPECT_EQ(ceil_div(8, 8), 1u);
  EXPECT_EQ(ceil_div(9, 8), 2u);
  EXPECT_EQ(ceil_div(last, 2), std::uint64_t{1} << 63);
  EXPECT_EQ(round_up(9, 8, "words"), 16u);
  EXPECT_EQ(round_up(16, 8, "words"), 16u);
  test::expect_refused([] { round_up(last, 8, "words"); }, {"words"});
}

}  // namespace
}  // namespace tally::detail

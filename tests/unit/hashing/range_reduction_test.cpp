#include "tally/hashing/range_reduction.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tally {
namespace {

constexpr std::uint64_t last = ~std::uint64_t{0};

TEST(RangeReduction, MapsTheEndsToTheEnds) {
  for (const std::uint64_t range :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 32,
        (std::uint64_t{1} << 40) + 15, std::uint64_t{1} << 56, last}) {
    EXPECT_EQ(reduce_to_range(0, range), 0u);
    EXPECT_EQ(reduce_to_range(last, range), range - 1);
  }
}

TEST(RangeReduction, KeepsTheHighBitsForAPowerOfTwo) {
  EXPECT_EQ(reduce_to_range(0x123456789abcdef0, std::uint64_t{1} << 12), 0x123u);
  EXPECT_EQ(reduce_to_range(0x123456789abcdef0, std::uint64_t{1} << 36), 0x123456789u);
}

TEST(RangeReduction, IsMonotonicAndGivesEqualShares) {
  constexpr std::uint64_t range = 10;
  std::vector<std::uint64_t> hits(range);
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const std::uint64_t here = reduce_to_range(i * (last / 100000), range);
    EXPECT_GE(here, before);
    before = here;
    ++hits[here];
  }
  for (const std::uint64_t hit : hits) EXPECT_NEAR(static_cast<double>(hit), 10000.0, 1.0);
}

}  // namespace
}  // namespace tally

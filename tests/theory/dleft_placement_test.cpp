#include "tally/theory/dleft_placement.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

/// The share of all choices of n elements, in 2 subtables of B buckets of c cells, that have no placement: by Hall's theorem over
/// all sets of buckets.
double share_without_placement(std::uint64_t B, std::uint32_t c, std::uint32_t n) {
  const std::uint64_t num_pairs = B * B;
  std::uint64_t num_all = 1;
  for (std::uint32_t i = 0; i < n; ++i) num_all *= num_pairs;
  std::uint64_t num_bad = 0;
  for (std::uint64_t all = 0; all < num_all; ++all) {
    std::vector<std::uint32_t> own;
    for (std::uint64_t rest = all; own.size() < n; rest /= num_pairs) {
      const std::uint64_t pair = rest % num_pairs;
      own.push_back(1u << (pair / B) | 1u << (B + pair % B));
    }
    bool is_bad = false;
    for (std::uint32_t set = 1; set < 1u << (2 * B) && !is_bad; ++set) {
      std::uint32_t inside = 0;
      for (const std::uint32_t buckets : own) inside += (buckets & ~set) == 0;
      is_bad = inside > c * static_cast<std::uint32_t>(std::popcount(set));
    }
    num_bad += is_bad;
  }
  return static_cast<double>(num_bad) / static_cast<double>(num_all);
}

TEST(DLeftPlacement, IsABoundOfTheExactShareOfAllChoices) {
  for (const auto& [B, c, n] :
       {std::array<std::uint32_t, 3>{2, 1, 3}, {2, 1, 4}, {2, 2, 7}, {2, 2, 8}, {3, 1, 5}, {3, 1, 6}}) {
    const double exact = share_without_placement(B, c, n);
    EXPECT_GT(exact, 0) << B << " " << c << " " << n;
    EXPECT_GE(dleft_no_placement_bound(2, B, c, n), exact) << B << " " << c << " " << n;
  }
}

TEST(DLeftPlacement, IsTheSumOverAllNumbersOfBuckets) {
  // Computed apart from this code, in Python.
  EXPECT_NEAR(ln_dleft_no_placement_bound(2, 8, 8, 81), -25.2853129, 1e-7);
  EXPECT_NEAR(ln_dleft_no_placement_bound(3, 4, 8, 85), -27.32893517, 1e-7);
  EXPECT_NEAR(ln_dleft_no_placement_bound(2, 64, 8, 979), -28.32596143, 1e-7);
  EXPECT_NEAR(ln_dleft_no_placement_bound(4, 240, 32, 30000), -1972.064927, 1e-4);
  EXPECT_NEAR(dleft_no_placement_bound(2, 8, 8, 81), std::exp(-25.2853129), 1e-18);
}

TEST(DLeftPlacement, IsZeroForOneBucketPerSubtableAndOneForMoreElementsThanCells) {
  EXPECT_EQ(dleft_no_placement_bound(2, 1, 8, 16), 0);
  EXPECT_EQ(dleft_no_placement_bound(2, 1, 8, 17), 1);
  EXPECT_EQ(dleft_no_placement_bound(3, 100, 4, 0), 0);
  EXPECT_EQ(dleft_no_placement_bound(2, 2, 8, 33), 1);
}

TEST(DLeftPlacement, RisesWithElementsAndFallsWithBuckets) {
  for (std::uint64_t n = 1; n <= 256; ++n) {
    EXPECT_GE(dleft_no_placement_bound(2, 16, 8, n), dleft_no_placement_bound(2, 16, 8, n - 1)) << n;
  }
  for (std::uint64_t B = 8; B < 100; ++B) {
    EXPECT_LE(ln_dleft_no_placement_bound(3, B + 1, 8, 180), ln_dleft_no_placement_bound(3, B, 8, 180)) << B;
  }
}

TEST(DLeftPlacement, RefusesWhatIsOutOfRange) {
  TALLY_EXPECT_REFUSED(dleft_no_placement_bound(1, 8, 8, 4), "d");
  TALLY_EXPECT_REFUSED(dleft_no_placement_bound(9, 8, 8, 4), "d");
  TALLY_EXPECT_REFUSED(dleft_no_placement_bound(2, 0, 8, 4), "B");
  TALLY_EXPECT_REFUSED(dleft_no_placement_bound(2, (1 << 20) + 1, 8, 4), "B");
  TALLY_EXPECT_REFUSED(dleft_no_placement_bound(2, 8, 0, 4), "c");
  TALLY_EXPECT_REFUSED(dleft_no_placement_bound(2, 8, 256, 4), "c");
}

}  // namespace
}  // namespace tally::theory

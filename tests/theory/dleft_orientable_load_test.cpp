#include "tally/theory/dleft_orientable_load.hpp"

#include <algorithm>
#include <array>

#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_safe_load.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

constexpr std::array<std::uint32_t, 7> cells{1, 2, 3, 4, 8, 16, 32};

/// Keys per cell, computed beside the reference data from the same formula to ten digits.
constexpr std::array<std::array<double, cells.size()>, 3> fractions{{
    {0.5, 0.8970118682, 0.9591542686, 0.9803697743, 0.9978532830, 0.9999276505, 0.9999997910},
    {0.9179352767, 0.9882014140, 0.9972857393, 0.9992531564, 0.9999919291, 0.9999999977, 1},
    {0.9767701649, 0.9982414839, 0.9997951434, 0.9999720661, 0.9999999828, 1, 1},
}};

TEST(DLeftOrientableLoad, IsTheThresholdOfRandomHypergraphsToTenDigits) {
  for (std::uint32_t d = 2; d <= 4; ++d) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      EXPECT_NEAR(dleft_orientable_load(d, cells[i]) / cells[i], fractions[d - 2][i], 6e-11)
          << d << " x " << cells[i];
    }
  }
}

TEST(DLeftOrientableLoad, RisesWithChoicesAndCellsAndPassesWhatATableReachesWithoutMoves) {
  for (std::uint32_t d = 2; d <= 8; ++d) {
    double last = 0;
    for (std::uint32_t c = 1; c <= 255; ++c) {
      const double fraction = dleft_orientable_load(d, c) / c;
      EXPECT_GE(fraction, last) << d << " x " << c;
      EXPECT_LE(fraction, 1 + 1e-12) << d << " x " << c;
      EXPECT_GE(fraction, dleft_orientable_load(std::max(2u, d - 1), c) / c - 1e-12) << d << " x " << c;
      last = fraction - 1e-12;
    }
    EXPECT_GT(dleft_orientable_load(d, 8), dleft_safe_load_for_share(d, 8, 1e-9, insert_only));
  }
}

TEST(DLeftOrientableLoad, RefusesOneChoiceAndBucketsOutOfRange) {
  TALLY_EXPECT_REFUSED(dleft_orientable_load(1, 8), "d");
  TALLY_EXPECT_REFUSED(dleft_orientable_load(9, 8), "d");
  TALLY_EXPECT_REFUSED(dleft_orientable_load(4, 0), "c");
  TALLY_EXPECT_REFUSED(dleft_orientable_load(4, 256), "c");
}

}  // namespace
}  // namespace tally::theory

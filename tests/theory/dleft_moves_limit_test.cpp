#include "tally/theory/dleft_moves_limit.hpp"

#include <cmath>

#include "tally/theory/dleft_orientable_load.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(DLeftMovesLimit, FillsUpUntilNoBucketHasRoomNearTheThresholdOfOrientability) {
  for (const auto& [d, c] : {std::pair(2u, 4u), std::pair(2u, 8u), std::pair(3u, 4u), std::pair(4u, 8u)}) {
    DLeftMovesLimit last{0, 0, 1};
    for (const double share : {0.5, 0.8, 0.9, 0.95, 0.99}) {
      const DLeftMovesLimit limit = dleft_moves_limit(d, c, share * dleft_orientable_load(d, c), 0);
      EXPECT_GE(limit.full_share, last.full_share) << d << " x " << c;
      EXPECT_LT(limit.room_probability, last.room_probability + 1e-9) << d << " x " << c;
      EXPECT_LE(limit.moves_probability, std::pow(limit.full_share, d) + 1e-12) << d << " x " << c;
      last = limit;
    }
    EXPECT_LT(dleft_moves_limit(d, c, 0.9999 * dleft_orientable_load(d, c), 0).room_probability, 0.006)
        << d << " x " << c;
  }
}

TEST(DLeftMovesLimit, TwoReplacementsPerElementLeadToTheSteadyState) {
  for (const auto& [d, c] : {std::pair(2u, 8u), std::pair(4u, 8u), std::pair(2u, 16u)}) {
    for (const double share : {0.9, 0.98}) {
      const DLeftMovesLimit soon = dleft_moves_limit(d, c, share * c, 2);
      const DLeftMovesLimit late = dleft_moves_limit(d, c, share * c, 8);
      EXPECT_NEAR(soon.full_share, late.full_share, 1e-4) << d << " x " << c;
      EXPECT_NEAR(soon.room_probability, late.room_probability, 1e-4) << d << " x " << c;
    }
  }
}

TEST(DLeftMovesLimit, RefusesWhatIsOutOfRange) {
  TALLY_EXPECT_REFUSED(dleft_moves_limit(1, 8, 4, 0), "d");
  TALLY_EXPECT_REFUSED(dleft_moves_limit(9, 8, 4, 0), "d");
  TALLY_EXPECT_REFUSED(dleft_moves_limit(4, 0, 4, 0), "c");
  TALLY_EXPECT_REFUSED(dleft_moves_limit(2, 65, 4, 0), "c");
  TALLY_EXPECT_REFUSED(dleft_moves_limit(8, 33, 4, 0), "c");
  for (const double load : {0.0, -1.0, 7.99, std::nan("")})
    TALLY_EXPECT_REFUSED(dleft_moves_limit(2, 8, load, 0), "average_load");
  for (const double steps : {-1.0, 17.0, std::nan("")})
    TALLY_EXPECT_REFUSED(dleft_moves_limit(2, 8, 4, steps), "steps_per_element");
}

}  // namespace
}  // namespace tally::theory

#include "tally/hashing/blocked_scheme.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/random.hpp"
#include "support/schemes.hpp"

namespace tally {
namespace {

TEST(BlockedScheme, TheLineIsTheOneItNamesFirst) {
  const PositionSpace space{80 * 12345, 9, 80};
  test::Random random(1);
  for (int n = 0; n < 1000; ++n) {
    const Hash128 digest = random.digest();
    const std::uint64_t first = BlockedScheme(space).first_of_line(digest);
    EXPECT_EQ(first % 80, 0u);
    for (const std::uint64_t position : test::positions_of<BlockedScheme>(space, digest))
      EXPECT_EQ(position / 80, first / 80);
  }
}

TEST(BlockedScheme, KeysOfOneLineDifferInTheirPositions) {
  std::set<std::vector<std::uint64_t>> sets;
  test::Random random(2);
  for (int n = 0; n < 1000; ++n)
    sets.insert(test::positions_of<BlockedScheme>({512, 8, 512}, random.digest()));
  EXPECT_EQ(sets.size(), 1000u);
}

TEST(BlockedScheme, EveryLineAndEveryPlaceInItIsUsed) {
  const PositionSpace space{512 * 7, 4, 512};
  std::set<std::uint64_t> used;
  test::Random random(3);
  for (int n = 0; n < 20000; ++n) {
    for (const std::uint64_t position : test::positions_of<BlockedScheme>(space, random.digest()))
      used.insert(position);
  }
  EXPECT_EQ(used.size(), space.num_positions);
}

}  // namespace
}  // namespace tally

#include "tally/hashing/register_blocked_scheme.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/random.hpp"
#include "support/schemes.hpp"

namespace tally {
namespace {

TEST(RegisterBlockedScheme, TheLineIsTheOneItNamesFirst) {
  for (const std::uint32_t per_line : {8u, 80u, 512u}) {
    const PositionSpace space{per_line * 12345, 16, per_line};
    const RegisterBlockedScheme scheme(space);
    test::Random random(1);
    for (int n = 0; n < 1000; ++n) {
      const Hash128 digest = random.digest();
      EXPECT_EQ(scheme.first_of_line(digest), scheme.line(digest) * per_line);
      for (const std::uint64_t position : test::positions_of<RegisterBlockedScheme>(space, digest))
        EXPECT_EQ(position / per_line, scheme.line(digest));
    }
  }
}

TEST(RegisterBlockedScheme, AKeyHasAsManyPositionsInEachWord) {
  test::Random random(2);
  for (const std::uint32_t k : {8u, 24u}) {
    const PositionSpace space{512 * 100, k, 512};
    const auto positions = test::positions_of<RegisterBlockedScheme>(space, random.digest());
    ASSERT_EQ(positions.size(), k);
    for (std::uint32_t i = 0; i < k; ++i) EXPECT_EQ(positions[i] % 512 / 64, i % 8);
  }
}

TEST(RegisterBlockedScheme, TheFirstPositionsDoNotDependOnTheirNumber) {
  test::Random random(3);
  const Hash128 digest = random.digest();
  const auto few = test::positions_of<RegisterBlockedScheme>({512 * 100, 8, 512}, digest);
  auto many = test::positions_of<RegisterBlockedScheme>({512 * 100, 32, 512}, digest);
  many.resize(8);
  EXPECT_EQ(few, many);
}

TEST(RegisterBlockedScheme, KeysOfOneLineDifferInTheirPositions) {
  std::set<std::vector<std::uint64_t>> sets;
  test::Random random(4);
  for (int n = 0; n < 1000; ++n)
    sets.insert(test::positions_of<RegisterBlockedScheme>({512, 8, 512}, random.digest()));
  EXPECT_EQ(sets.size(), 1000u);
}

TEST(RegisterBlockedScheme, EveryLineAndEveryPlaceInItIsUsed) {
  for (const std::uint32_t per_line : {8u, 80u, 512u}) {
    const PositionSpace space{per_line * 7, 8, per_line};
    std::set<std::uint64_t> used;
    test::Random random(5);
    for (int n = 0; n < 20000; ++n) {
      for (const std::uint64_t position : test::positions_of<RegisterBlockedScheme>(space, random.digest()))
        used.insert(position);
    }
    EXPECT_EQ(used.size(), space.num_positions);
  }
}

}  // namespace
}  // namespace tally

#include "tally/hashing/hash_scheme.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "support/expect_refused.hpp"
#include "support/random.hpp"
#include "support/schemes.hpp"

namespace tally {
namespace {

using test::positions_of;
using test::usable_space;

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr std::uint64_t highest_bit = std::uint64_t{1} << 63;

const std::vector<std::uint64_t> sizes_to_try = {1,
                                                 2,
                                                 3,
                                                 7,
                                                 64,
                                                 997,
                                                 1000,
                                                 65536,
                                                 (std::uint64_t{1} << 32) + 15,
                                                 (std::uint64_t{1} << 40) + 12345,
                                                 (std::uint64_t{1} << 56) - (std::uint64_t{1} << 20)};
const std::vector<std::uint32_t> numbers_of_hashes = {1, 2, 3, 5, 7, 16, 127, 128, 129, 1023, 1024};

std::vector<Hash128> digests_to_try() {
  std::vector<Hash128> digests;
  for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, highest_bit, all_bits}) {
    for (const std::uint64_t high :
         {std::uint64_t{0}, std::uint64_t{1}, highest_bit, all_bits - 1, all_bits}) {
      digests.push_back({low, high});
    }
  }
  test::Random random(1);
  for (int i = 0; i < 10; ++i) digests.push_back(random.digest());
  return digests;
}

template <class Scheme>
class EveryHashScheme : public testing::Test {};
TYPED_TEST_SUITE(EveryHashScheme, test::SchemeTypes, test::SchemeNames);

TYPED_TEST(EveryHashScheme, GivesKPositionsInRange) {
  const std::vector<Hash128> digests = digests_to_try();
  for (const std::uint64_t size : sizes_to_try) {
    for (const std::uint32_t k : numbers_of_hashes) {
      const PositionSpace space = usable_space<TypeParam>(size, k);
      for (const Hash128 digest : digests) {
        const std::vector<std::uint64_t> positions = positions_of<TypeParam>(space, digest);
        ASSERT_EQ(positions.size(), space.num_hashes);
        for (const std::uint64_t position : positions) ASSERT_LT(position, space.num_positions);
      }
    }
  }
}

TYPED_TEST(EveryHashScheme, StopsAtTheFirstPositionThatIsRefusedAndSaysSo) {
  const PositionSpace space = usable_space<TypeParam>(1000, 9);
  const TypeParam scheme(space);
  const Hash128 digest = test::Random(2).digest();
  for (std::uint32_t stop = 0; stop < space.num_hashes; ++stop) {
    std::uint32_t visits = 0;
    EXPECT_FALSE(scheme.all_positions(digest, [&](std::uint64_t) { return visits++ != stop; }));
    EXPECT_EQ(visits, stop + 1);
  }
  EXPECT_TRUE(scheme.all_positions(digest, [](std::uint64_t) { return true; }));
}

TYPED_TEST(EveryHashScheme, DependsOnBothHalvesOfTheDigest) {
  const PositionSpace space = usable_space<TypeParam>(std::uint64_t{1} << 40, 5);
  test::Random random(3);
  for (int i = 0; i < 100; ++i) {
    const Hash128 digest = random.digest();
    const auto positions = positions_of<TypeParam>(space, digest);
    EXPECT_NE(positions, positions_of<TypeParam>(space, {digest.low, ~digest.high}));
    EXPECT_NE(positions, positions_of<TypeParam>(space, {~digest.low, digest.high}));
  }
}

// Every eighth of a huge array is hit: nothing is cut to 32 bits on the way.
TYPED_TEST(EveryHashScheme, ReachesEveryPartOfAnArrayBeyond32Bits) {
  const PositionSpace space = usable_space<TypeParam>(std::uint64_t{1} << 40, 6);
  test::Random random(4);
  std::set<std::uint64_t> eighths;
  std::set<std::uint64_t> low_bits;
  for (int i = 0; i < 500; ++i) {
    for (const std::uint64_t position : positions_of<TypeParam>(space, random.digest())) {
      eighths.insert(position * 8 / space.num_positions);
      low_bits.insert(position % 64);
    }
  }
  EXPECT_EQ(eighths.size(), 8u);
  EXPECT_EQ(low_bits.size(), 64u);
}

TYPED_TEST(EveryHashScheme, RoundingGivesAUsableSizeOnTheAskedSideAndKeepsIt) {
  for (const std::uint64_t size : sizes_to_try) {
    for (const std::uint32_t k : numbers_of_hashes) {
      for (const std::uint32_t per_line : {8u, 80u, 168u, 512u}) {
        const auto rounded = [&](std::uint64_t m, Rounding rounding) {
          return TypeParam::round_positions({m, k, per_line}, rounding);
        };
        const std::uint64_t up = rounded(size, Rounding::up);
        const std::uint64_t down = rounded(size, Rounding::down);
        ASSERT_GE(up, size);
        ASSERT_LE(down, size);
        ASSERT_EQ(rounded(up, Rounding::up), up);
        ASSERT_EQ(rounded(up, Rounding::down), up);
        if (down != 0) {
          ASSERT_EQ(rounded(down, Rounding::up), down);
        }
        ASSERT_EQ(up == size, down == size);
        if (TypeParam::layout == PositionLayout::whole) {
          ASSERT_EQ(up, size);
        } else {
          ASSERT_EQ(up % (TypeParam::layout == PositionLayout::parts ? k : per_line), 0u);
        }
      }
    }
  }
}

TYPED_TEST(EveryHashScheme, APartOrLineHoldsWhatItsLayoutSays) {
  for (const std::uint64_t size : sizes_to_try) {
    for (const std::uint32_t k : numbers_of_hashes) {
      const PositionSpace space = usable_space<TypeParam>(size, k, 80);
      for (const Hash128 digest : digests_to_try()) {
        const auto positions = positions_of<TypeParam>(space, digest);
        if (TypeParam::layout == PositionLayout::parts) {
          for (std::uint32_t i = 0; i < k; ++i) ASSERT_EQ(positions[i] / (space.num_positions / k), i);
        } else if (is_in_one_line(TypeParam::layout)) {
          for (const std::uint64_t position : positions) ASSERT_EQ(position / 80, positions[0] / 80);
        }
        if (TypeParam::layout == PositionLayout::words) {
          for (std::uint32_t i = 0; i < positions.size(); ++i) ASSERT_EQ(positions[i] % 80 / 10, i % 8);
        }
      }
    }
  }
}

TYPED_TEST(EveryHashScheme, ASizeItCannotUseIsRefusedWithTheNearestOnes) {
  const auto check = [](std::uint64_t m, std::uint32_t k) {
    check_position_space<TypeParam>("X", "num_cells", {m, k, 512});
  };
  const std::uint32_t k = test::usable_hashes<TypeParam>(7);
  EXPECT_NO_THROW(check(TypeParam::round_positions({12345, k, 512}, Rounding::up), k));
  test::expect_refused([&] { check(0, k); }, {"X: num_cells is 0; must be 1 to 72057594037927936"});
  test::expect_refused([&] { check(max_num_positions + 1, k); },
                       {"X: num_cells is 72057594037927937; must be 1 to "});
  test::expect_refused([&] { check(all_bits, k); }, {"num_cells is 18446744073709551615"});
  test::expect_refused([&] { check(1000, 0); }, {"X: num_hashes is 0; must be 1 to 1024"});
  test::expect_refused([&] { check(1000, 1025); }, {"X: num_hashes is 1025; must be 1 to 1024"});
  test::expect_refused([&] { check(1000, 0xffffffff); }, {"X: num_hashes is 4294967295"});
  if (TypeParam::layout == PositionLayout::whole) {
    EXPECT_NO_THROW(check(12345, k));
    return;
  }
  const std::string down = std::to_string(TypeParam::round_positions({12345, k, 512}, Rounding::down));
  const std::string up = std::to_string(TypeParam::round_positions({12345, k, 512}, Rounding::up));
  test::expect_refused([&] { check(12345, k); },
                       {"X: num_cells is 12345; must be " + down + " or " + up, std::string(TypeParam::name),
                        "num_hashes " + std::to_string(k)});
  test::expect_refused([&] { check(1, k); }, {"X: num_cells is 1; must be ", std::string(TypeParam::name)});
}

TEST(CheckPositionSpace, RefusesANumberOfHashesThatTheSchemeCannotUse) {
  const auto check = [](std::uint32_t k) {
    check_position_space<RegisterBlockedScheme>("X", "num_bits", {512, k, 512});
  };
  for (const std::uint32_t k : {8u, 16u, 1024u}) EXPECT_NO_THROW(check(k));
  for (const std::uint32_t k : {1u, 7u, 9u, 1023u}) {
    test::expect_refused([&] { check(k); }, {"X: num_hashes is " + std::to_string(k) +
                                             "; must be a multiple of 8 for the scheme 'register-blocked'"});
  }
}

TEST(CheckPositionSpace, SuggestsNothingAboveTheLimit) {
  const PositionSpace space{max_num_positions - 1, 7, 512};
  const std::uint64_t below = PartitionDoubleScheme::round_positions(space, Rounding::down);
  ASSERT_GT(PartitionDoubleScheme::round_positions(space, Rounding::up), max_num_positions);
  EXPECT_THAT([&] { check_position_space<PartitionDoubleScheme>("Shape", "num_positions", space); },
              ::testing::ThrowsMessage<std::invalid_argument>(
                  ::testing::HasSubstr("must be " + std::to_string(below) + " for the scheme")));
}

// What files depend on: the first positions of one digest in 2^32 + 15 positions (rounded up).
TYPED_TEST(EveryHashScheme, KeepsItsPositions) {
  static const std::map<std::string_view, std::vector<std::uint64_t>> goldens = {
      {"congruential", {19088743, 1852645322, 2951757192, 2145891183, 2716431118}},
      {"blocked", {19088400, 19088409, 19088789, 19088654, 19088809}},
      {"standard", {20906317, 1290284057, 447182689, 2181350453, 3394906184}},
      {"partitioned", {4181263, 1117050274, 1807423463, 3013250480, 4114955089}},
      {"double", {19088743, 4294967310, 4275878566, 4256789822, 4237701078}},
      {"enhanced-double-quadratic", {19088743, 0, 4275878570, 4256789831, 4237701094}},
      {"enhanced-double-cubic", {19088743, 0, 4275878574, 4256789849, 4237701142}},
      {"triple", {19088743, 4294967310, 1817572, 24541462, 68171669}},
      {"partition-double", {3817748, 1717987005, 2573162759, 3428338513, 4283514267}},
      {"register-blocked", {19088400, 19088456, 19088515, 19088597, 19088694, 19088737, 19088809, 19088878}},
  };
  const PositionSpace space = usable_space<TypeParam>((std::uint64_t{1} << 32) + 15, 5);
  EXPECT_EQ(positions_of<TypeParam>(space, {0x0123456789abcdef, 0xfedcba9876543210}),
            goldens.at(TypeParam::name));
}

TEST(HashSchemes, NamesAndFileIdsAreDistinctAndKept) {
  const std::map<std::string_view, std::uint16_t> ids = {
      {CongruentialScheme::name, CongruentialScheme::file_id},
      {BlockedScheme::name, BlockedScheme::file_id},
      {StandardScheme::name, StandardScheme::file_id},
      {PartitionedScheme::name, PartitionedScheme::file_id},
      {DoubleScheme::name, DoubleScheme::file_id},
      {EnhancedDoubleQuadraticScheme::name, EnhancedDoubleQuadraticScheme::file_id},
      {EnhancedDoubleCubicScheme::name, EnhancedDoubleCubicScheme::file_id},
      {TripleScheme::name, TripleScheme::file_id},
      {PartitionDoubleScheme::name, PartitionDoubleScheme::file_id},
      {RegisterBlockedScheme::name, RegisterBlockedScheme::file_id}};
  const std::map<std::string_view, std::uint16_t> kept = {
      {"congruential", 1},     {"blocked", 2},
      {"standard", 3},         {"partitioned", 4},
      {"double", 5},           {"enhanced-double-quadratic", 6},
      {"triple", 8},           {"enhanced-double-cubic", 7},
      {"partition-double", 9}, {"register-blocked", 10}};
  EXPECT_EQ(ids, kept);
}

}  // namespace
}  // namespace tally

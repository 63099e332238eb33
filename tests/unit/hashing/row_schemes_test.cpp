#include "tally/hashing/row_schemes.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/random.hpp"
#include "support/row_schemes.hpp"

namespace tally::test {
namespace {

template <class Rows>
class RowSchemeOf : public testing::Test {};
TYPED_TEST_SUITE(RowSchemeOf, AllRowSchemes, RowSchemeNames);

static_assert(RowScheme<CongruentialRows> && RowScheme<IndependentRows> && RowScheme<PairwiseRows> &&
              RowScheme<TwoHashRows>);

TYPED_TEST(RowSchemeOf, EveryRowIsVisitedOnceInOrderWithAColumnOfIt) {
  Random random(1);
  for (const std::uint64_t width : {2u, 3u, 1009u, 1'000'003u}) {
    const RowSpace space{width, 2, 3, 5};
    for (int i = 0; i < 100; ++i) {
      std::uint32_t next = 0;
      TypeParam(space).for_each_row(random.digest(), [&](std::uint32_t row, std::uint64_t column) {
        EXPECT_EQ(row, next++);
        EXPECT_LT(column, width);
      });
      ASSERT_EQ(next, 6u);
    }
  }
}

TYPED_TEST(RowSchemeOf, ADigestAlwaysHasTheSameColumns) {
  const RowSpace space{1009, 4, 2, 5};
  EXPECT_EQ(columns_of<TypeParam>(space, {1, 2}), columns_of<TypeParam>(space, {1, 2}));
  EXPECT_NE(columns_of<TypeParam>(space, {1, 2}), columns_of<TypeParam>(space, {~0ull, ~0ull / 3}));
}

/// Pairs of digests that meet in two given rows, of `trials`; make_pair(i) gives the pair and the space.
template <class Rows, class MakePair>
std::uint64_t num_meetings(std::uint64_t trials, std::uint32_t first, std::uint32_t second,
                           MakePair make_pair) {
  std::uint64_t meetings = 0;
  for (std::uint64_t i = 0; i < trials; ++i) {
    const auto [space, x, y] = make_pair(i);
    const auto a = columns_of<Rows>(space, x);
    const auto b = columns_of<Rows>(space, y);
    meetings += a[first] == b[first] && a[second] == b[second];
  }
  return meetings;
}

// Binomial(40000, 1/5) or (40000, 1/25): the limits are five standard deviations.
TYPED_TEST(RowSchemeOf, TwoKeysMeetInARowOnceInWidthAndInTwoRowsOnceInItsSquare) {
  Random random(2);
  const auto draw = [&](std::uint64_t) {
    return std::tuple{RowSpace{5, 4, 1, random.next()}, random.digest(), random.digest()};
  };
  for (std::uint32_t row = 0; row < 4; ++row) {
    EXPECT_NEAR(static_cast<double>(num_meetings<TypeParam>(40'000, row, row, draw)), 8000, 400);
    for (std::uint32_t other = 0; other < row; ++other) {
      EXPECT_NEAR(static_cast<double>(num_meetings<TypeParam>(40'000, row, other, draw)), 1600, 196);
    }
  }
}

// Over random coefficients, whatever the digests: also for neighbours that random digests never are.
TEST(PairwiseRowsOnly, AnyTwoDigestsMeetOnceInWidth) {
  Random random(3);
  for (const auto& [x, y] :
       {std::pair<Hash128, Hash128>{{0, 0}, {1, 0}}, {{5, 0}, {5, 1}}, {{8, 8}, {16, 16}}}) {
    const auto draw = [&, first = x, second = y](std::uint64_t) {
      return std::tuple{RowSpace{5, 2, 1, random.next()}, first, second};
    };
    EXPECT_NEAR(static_cast<double>(num_meetings<PairwiseRows>(40'000, 0, 0, draw)), 8000, 400);
    EXPECT_NEAR(static_cast<double>(num_meetings<PairwiseRows>(40'000, 0, 1, draw)), 1600, 196);
  }
}

TEST(TwoHashRowsOnly, RowJOfTheFirstCopyIsH1PlusJTimesH2) {
  const RowSpace space{1009, 5, 2};
  const Hash128 digest{0x123456789abcdef0u, 0xfedcba9876543210u};
  const std::uint64_t h1 = reduce_to_range(digest.low, 1009);
  const std::uint64_t h2 = reduce_to_range(digest.high, 1009);
  const auto columns = columns_of<TwoHashRows>(space, digest);
  for (std::uint64_t j = 0; j < 5; ++j) EXPECT_EQ(columns[j], (h1 + j * h2) % 1009);
}

TEST(TwoHashRowsOnly, KeysThatMeetInTwoRowsOfACopyMeetInAllOfItAndNotInTheOthers) {
  const RowSpace space{7, 5, 2};
  Random random(4);
  int num_all = 0;
  int num_other = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto a = columns_of<TwoHashRows>(space, random.digest());
    const auto b = columns_of<TwoHashRows>(space, random.digest());
    int first_copy = 0;
    int second_copy = 0;
    for (std::size_t row = 0; row < 5; ++row) {
      first_copy += a[row] == b[row];
      second_copy += a[row + 5] == b[row + 5];
    }
    ASSERT_TRUE(first_copy <= 1 || first_copy == 5);
    ASSERT_TRUE(second_copy <= 1 || second_copy == 5);
    num_all += first_copy == 5;
    num_other += first_copy == 5 && second_copy == 5;
  }
  EXPECT_NEAR(num_all, 5000.0 / 49, 50);  // five standard deviations
  EXPECT_LE(num_other, 10);
}

TEST(TwoHashRowsOnly, TheWidthIsRoundedToAPrime) {
  EXPECT_EQ(TwoHashRows::round_width(1000, Rounding::up), 1009u);
  EXPECT_EQ(TwoHashRows::round_width(1000, Rounding::down), 997u);
  EXPECT_EQ(TwoHashRows::round_width(1, Rounding::down), 0u);
  EXPECT_EQ(IndependentRows::round_width(1000, Rounding::up), 1000u);
}

TEST(RowSchemes, NumbersAndNamesAreDistinct) {
  const std::set<std::uint16_t> ids{CongruentialRows::file_id, IndependentRows::file_id,
                                    PairwiseRows::file_id, TwoHashRows::file_id};
  EXPECT_EQ(ids, (std::set<std::uint16_t>{32, 33, 34, 35}));
}

}  // namespace
}  // namespace tally::test

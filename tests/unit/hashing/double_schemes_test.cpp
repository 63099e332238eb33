#include "tally/hashing/double_schemes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.hpp"
#include "support/schemes.hpp"

namespace tally {
namespace {

__extension__ using Wide = unsigned __int128;

const std::vector<std::uint64_t> sizes = {1,
                                          2,
                                          3,
                                          8,
                                          1000,
                                          65537,
                                          (std::uint64_t{1} << 32) + 15,
                                          (std::uint64_t{1} << 56) - 5,
                                          std::uint64_t{1} << 56};

struct HashValues {
  Wide h1, h2, h3;
};

/// Compares position i of random digests with the formula's, computed in 128 bits; i up to 1023.
template <class Scheme, class Formula>
void expect_formula(Formula formula) {
  test::Random random(1);
  for (const std::uint64_t m : sizes) {
    for (int n = 0; n < 30; ++n) {
      const Hash128 digest = random.digest();
      const HashValues values{reduce_to_range(digest.low, m), reduce_to_range(digest.high, m),
                              reduce_to_range(independent_hash(digest, 0), m)};
      const auto positions = test::positions_of<Scheme>({m, max_num_hashes, 0}, digest);
      for (std::uint32_t i = 0; i < max_num_hashes; ++i) {
        ASSERT_EQ(positions[i], static_cast<std::uint64_t>(formula(values, Wide{i}) % m))
            << "m " << m << " i " << i;
      }
    }
  }
}

TEST(DoubleSchemes, DoubleHashingIsH1PlusITimesH2) {
  expect_formula<DoubleScheme>([](const HashValues& h, Wide i) { return h.h1 + i * h.h2; });
}

TEST(DoubleSchemes, EnhancedQuadraticAddsTheSquareOfI) {
  expect_formula<EnhancedDoubleQuadraticScheme>(
      [](const HashValues& h, Wide i) { return h.h1 + i * h.h2 + i * i; });
}

TEST(DoubleSchemes, EnhancedCubicAddsTheCubeOfI) {
  expect_formula<EnhancedDoubleCubicScheme>(
      [](const HashValues& h, Wide i) { return h.h1 + i * h.h2 + i * i * i; });
}

TEST(DoubleSchemes, TripleHashingAddsTriangularMultiplesOfAThirdValue) {
  expect_formula<TripleScheme>([](const HashValues& h, Wide i) {
    return h.h1 + i * h.h2 + (i == 0 ? Wide{0} : i * (i - 1) / 2 * h.h3);
  });
}

TEST(DoubleSchemes, PartitionDoubleIsDoubleHashingModuloAPrimeInTheIthPart) {
  test::Random random(2);
  for (const std::uint32_t k : {1u, 2u, 7u, 100u, 1024u}) {
    for (const std::uint64_t m :
         {std::uint64_t{1000}, (std::uint64_t{1} << 32) + 15, std::uint64_t{1} << 55}) {
      const PositionSpace space = test::usable_space<PartitionDoubleScheme>(m, k);
      const Wide p = space.num_positions / k;
      const Hash128 digest = random.digest();
      const Wide h1 = reduce_to_range(digest.low, static_cast<std::uint64_t>(p));
      const Wide h2 = reduce_to_range(digest.high, static_cast<std::uint64_t>(p));
      const auto positions = test::positions_of<PartitionDoubleScheme>(space, digest);
      for (std::uint32_t i = 0; i < k; ++i) {
        ASSERT_EQ(positions[i], static_cast<std::uint64_t>(i * p + (h1 + i * h2) % p));
      }
    }
  }
}

bool is_prime_by_division(std::uint64_t number) {
  if (number < 2) return false;
  for (std::uint64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

TEST(DoubleSchemes, PartitionDoubleRoundsToTheNearestPrimeParts) {
  for (const std::uint32_t k : {1u, 3u, 10u}) {
    for (std::uint64_t m = 1; m < 3000; m += 7) {
      const auto usable = [&](std::uint64_t size) { return size % k == 0 && is_prime_by_division(size / k); };
      std::uint64_t up = m;
      while (!usable(up)) ++up;
      std::uint64_t down = m;
      while (down > 0 && !usable(down)) --down;
      ASSERT_EQ(PartitionDoubleScheme::round_positions({m, k, 0}, Rounding::up), up);
      ASSERT_EQ(PartitionDoubleScheme::round_positions({m, k, 0}, Rounding::down), down);
    }
  }
  // The least prime above 2^32 is 2^32 + 15, and 2^56 - 5 is the greatest below 2^56.
  EXPECT_EQ(PartitionDoubleScheme::round_positions({std::uint64_t{1} << 32, 1, 0}, Rounding::up),
            4294967311u);
  EXPECT_EQ(PartitionDoubleScheme::round_positions({std::uint64_t{1} << 56, 1, 0}, Rounding::down),
            (std::uint64_t{1} << 56) - 5);
}

// The known flaw, kept: h2 = 0 puts all positions of a key on one place.
TEST(DoubleSchemes, AStepOfZeroCollapsesDoubleHashing) {
  const auto positions = test::positions_of<DoubleScheme>({1000, 5, 0}, {std::uint64_t{1} << 63, 0});
  EXPECT_EQ(positions, std::vector<std::uint64_t>(5, 500));
}

}  // namespace
}  // namespace tally

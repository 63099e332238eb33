#include "tally/hashing/independent_schemes.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "support/random.hpp"
#include "support/schemes.hpp"

namespace tally {
namespace {

// Flipping one bit of the digest flips each bit of a hash about half the time. 500 pairs x 64 bits a
// mean, whose standard deviation is 0.0028 if fair; 128 two-sided tests, 99.9% for all together, need 4.5
// of these.
TEST(IndependentHash, EveryBitOfTheDigestChangesHalfTheBitsOfEveryHash) {
  for (std::uint32_t bit = 0; bit < 128; ++bit) {
    test::Random random(bit);
    int flipped = 0;
    for (std::uint32_t n = 0; n < 500; ++n) {
      const Hash128 digest = random.digest();
      Hash128 other = digest;
      (bit < 64 ? other.low : other.high) ^= std::uint64_t{1} << (bit % 64);
      flipped += std::popcount(independent_hash(digest, n) ^ independent_hash(other, n));
    }
    EXPECT_NEAR(flipped / (500 * 64.0), 0.5, 4.5 * 0.0028) << bit;
  }
}

TEST(IndependentHash, TheHashesOfAnyDigestDiffer) {
  for (const Hash128 digest : {Hash128{0, 0}, Hash128{~std::uint64_t{0}, 0}, Hash128{0, ~std::uint64_t{0}}}) {
    std::set<std::uint64_t> hashes;
    for (std::uint32_t i = 0; i < max_num_hashes; ++i) hashes.insert(independent_hash(digest, i));
    EXPECT_EQ(hashes.size(), max_num_hashes);
  }
}

TEST(IndependentSchemes, PositionsAreTheReducedHashes) {
  const Hash128 digest = test::Random(1).digest();
  const auto standard = test::positions_of<StandardScheme>({700, 7, 0}, digest);
  const auto partitioned = test::positions_of<PartitionedScheme>({700, 7, 0}, digest);
  for (std::uint32_t i = 0; i < 7; ++i) {
    EXPECT_EQ(standard[i], reduce_to_range(independent_hash(digest, i), 700));
    EXPECT_EQ(partitioned[i], 100 * i + reduce_to_range(independent_hash(digest, i), 100));
  }
}

}  // namespace
}  // namespace tally

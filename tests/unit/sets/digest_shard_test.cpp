#include "tally/sets/digest_shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "random.hpp"

namespace tally {
namespace {

using test::Random;

std::uint64_t num_missing(const DigestShard& shard, const std::vector<Hash128>& digests) {
  std::uint64_t count = 0;
  for (const Hash128 digest : digests) count += !shard.contains(digest);
  return count;
}

TEST(DigestShard, ClearedItIsAsNewInTheMemoryThatItHas) {
  DigestShard shard(100);
  const DigestShard empty(100);
  const std::uint64_t* const memory = shard.words().data();
  Random random(1);
  for (int i = 0; i < 450; ++i) ASSERT_TRUE(shard.insert(random.digest()));
  shard.clear();
  EXPECT_EQ(shard.size(), 0u);
  EXPECT_EQ(shard.words().data(), memory);
  EXPECT_TRUE(std::ranges::equal(shard.words(), empty.words()));
}

TEST(DigestShard, IsNearlyFullBeforeADigestFindsNoPlaceAndLosesNone) {
  for (const std::uint64_t num_lines : {16, 100, 1000, 10'000}) {
    DigestShard shard(num_lines);
    Random random(num_lines);
    std::vector<Hash128> inserted;
    for (;;) {
      const Hash128 digest = random.digest();
      ASSERT_FALSE(shard.contains(digest));
      if (!shard.insert(digest)) {
        EXPECT_FALSE(shard.contains(digest));
        break;
      }
      inserted.push_back(digest);
    }
    EXPECT_EQ(num_missing(shard, inserted), 0u);
    EXPECT_EQ(shard.size(), inserted.size());
    const double places = static_cast<double>(5 * num_lines);
    EXPECT_GT(static_cast<double>(shard.size()), (num_lines < 1000 ? 0.75 : 0.97) * places) << num_lines;
  }
}

// In few lines chains of moves would come back to where they began.
TEST(DigestShard, FewLinesAreFilledWithoutALoss) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    DigestShard shard(2 + seed % 5);
    Random random(seed);
    std::vector<Hash128> inserted;
    for (int i = 0; i < 40; ++i) {
      const Hash128 digest = random.digest();
      if (shard.insert(digest)) inserted.push_back(digest);
      ASSERT_EQ(num_missing(shard, inserted), 0u) << seed << ' ' << i;
    }
    ASSERT_EQ(shard.size(), inserted.size());
  }
}

TEST(DigestShard, TakesOverAllOfASmallerOne) {
  DigestShard smaller(1000);
  Random random(1);
  std::vector<Hash128> inserted;
  while (inserted.size() < 4800) {
    inserted.push_back(random.digest());
    ASSERT_TRUE(smaller.insert(inserted.back()));
  }
  DigestShard larger(1200);
  ASSERT_TRUE(larger.insert_all(smaller));
  EXPECT_EQ(larger.size(), 4800u);
  EXPECT_EQ(num_missing(larger, inserted), 0u);
  DigestShard too_small(900);
  EXPECT_FALSE(too_small.insert_all(smaller));
}

}  // namespace
}  // namespace tally

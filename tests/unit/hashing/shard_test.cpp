#include "tally/hashing/shard.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "support/random.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally {
namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};

// Shards stay in servers, so these must never change. Computed by a program in another language from docs/format.md.
TEST(Shard, OfADigestNeverChanges) {
  constexpr std::array<std::uint32_t, 6> numbers = {1, 2, 3, 16, 1000, 16384};
  struct Golden {
    Hash128 digest;
    std::array<std::uint32_t, 6> shards;
  };
  constexpr std::array<Golden, 5> goldens = {{
      {{0, 0}, {0, 1, 2, 14, 907, 14865}},
      {{1, 0}, {0, 0, 0, 0, 56, 923}},
      {{0, 1}, {0, 1, 2, 13, 842, 13800}},
      {{all_ones, all_ones}, {0, 0, 1, 7, 455, 7467}},
      {{0x0123456789abcdef, 0xfedcba9876543210}, {0, 0, 1, 7, 494, 8096}},
  }};
  for (const Golden& golden : goldens) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_EQ(shard_of(golden.digest, numbers[i]), golden.shards[i])
          << golden.digest.low << " " << numbers[i];
  }
  static_assert(shard_of(goldens[4].digest, 1000) == 494);
}

// The table in docs/format.md.
TEST(Shard, OfAKeyNeverChanges) {
  struct Golden {
    std::uint64_t seed;
    std::string_view key;
    Hash128 digest;
    std::array<std::uint32_t, 3> shards;  // of 3, 16 and 16384
  };
  for (const Golden& golden : {
           Golden{0, "", {0x6001c324468d497f, 0x99aa06d3014798d8}, {1, 10, 10866}},
           Golden{0, "apple", {0x5cf5d97583ab91bb, 0x5ac82be78f916755}, {1, 7, 7500}},
           Golden{42, "apple", {0xd801a871821b99bd, 0xdb4f0b107b827eb7}, {0, 3, 3102}},
           Golden{42, "user:1000", {0xa3e7a9051202e96a, 0x82e777a152c7e91c}, {1, 6, 6579}},
       }) {
    const Hash128 digest = KeyHasher(golden.seed)(golden.key);
    EXPECT_EQ(digest, golden.digest) << golden.key;
    EXPECT_EQ(shard_of(digest, 3), golden.shards[0]) << golden.key;
    EXPECT_EQ(shard_of(digest, 16), golden.shards[1]) << golden.key;
    EXPECT_EQ(shard_of(digest, 16384), golden.shards[2]) << golden.key;
  }
}

TEST(Shard, IsBelowTheNumberOfShards) {
  test::Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto num_shards = static_cast<std::uint32_t>(random.between(1, max_num_shards));
    EXPECT_LT(shard_of(random.digest(), num_shards), num_shards);
  }
}

TEST(Shard, WithTwiceAsManyShardsBecomesTwoNeighbours) {
  test::Random random(2);
  for (int i = 0; i < 10'000; ++i) {
    const auto num_shards = static_cast<std::uint32_t>(random.between(1, max_num_shards / 2));
    const Hash128 digest = random.digest();
    EXPECT_EQ(shard_of(digest, 2 * num_shards) / 2, shard_of(digest, num_shards));
  }
}

}  // namespace
}  // namespace tally

#include "tally/sets/recent_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "random.hpp"

namespace tally {
namespace {

using test::Random;

TEST(RecentKeys, NeverTakeANewKeyForAnOldOne) {
  RecentKeys recent(64 * 100);
  Random random(1);
  for (std::uint64_t i = 0; i < 500'000; ++i) {
    // Every digest is a new one: a third are random, a third share their low half, a third their high half.
    Hash128 digest = random.digest();
    if (i % 3 == 0) digest = {0, i};
    if (i % 3 == 1) digest = {i, 0};
    ASSERT_TRUE(recent.insert(digest)) << i;
    ASSERT_FALSE(recent.insert(digest)) << i;
  }
}

TEST(RecentKeys, TheDigestZeroIsAKeyLikeOthers) {
  RecentKeys recent(64);
  EXPECT_TRUE(recent.insert({0, 0}));
  EXPECT_FALSE(recent.insert({0, 0}));
}

TEST(RecentKeys, EachLineKeepsItsFourMostRecentAndCountsTheForgotten) {
  // 16 lines; the line of a digest is given by the top 4 bits of its low half.
  constexpr std::uint64_t num_lines = 16;
  RecentKeys recent(64 * num_lines);
  std::vector<std::deque<Hash128>> lines(num_lines);
  std::uint64_t num_forgotten = 0;
  Random random(2);
  for (int i = 0; i < 300'000; ++i) {
    // Line j is offered j different keys, so that some lines are never full.
    const std::uint64_t line = random.between(1, num_lines - 1);
    const Hash128 digest{line << 60 | random.below(line), 7};
    std::deque<Hash128>& keys = lines[line];
    const auto at = std::ranges::find(keys, digest);
    const bool is_new = at == keys.end();
    if (!is_new) keys.erase(at);
    keys.push_front(digest);
    if (keys.size() > RecentKeys::digests_per_line) {
      keys.pop_back();
      ++num_forgotten;
    }
    ASSERT_EQ(recent.insert(digest), is_new) << i;
    ASSERT_EQ(recent.num_forgotten(), num_forgotten) << i;
  }
}

TEST(RecentKeys, ForgetNothingUntilALineIsFull) {
  RecentKeys recent(64 * 16);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t line = 0; line < 16; ++line) {
      for (std::uint64_t j = 0; j < RecentKeys::digests_per_line; ++j) {
        EXPECT_EQ(recent.insert({line << 60 | j, 7}), round == 0);
      }
    }
  }
  EXPECT_EQ(recent.num_forgotten(), 0u);
  EXPECT_TRUE(recent.insert({99, 7}));
  EXPECT_EQ(recent.num_forgotten(), 1u);
}

TEST(RecentKeys, TakeTheMemoryGivenInWholeLinesButAtLeastOne) {
  for (const std::uint64_t num_bytes : {0, 1, 63, 64, 65, 127, 128, 100'000}) {
    EXPECT_EQ(RecentKeys(num_bytes).num_bytes(), std::max<std::uint64_t>(64, num_bytes / 64 * 64));
  }
}

}  // namespace
}  // namespace tally

#include "tally/sets/hash_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "random.hpp"

namespace tally {
namespace {

using test::Random;
using Outcome = HashSet::Outcome;

constexpr std::uint64_t least_bytes = 128;  // two lines, below which no limit brings it

/// Inserts, growing as often as it takes; every 'full' must have changed nothing.
Outcome insert_growing(HashSet& set, Hash128 digest) {
  for (;;) {
    const std::uint64_t size = set.size();
    const std::uint64_t num_bytes = set.num_bytes();
    const Outcome outcome = set.try_insert(digest);
    if (outcome != Outcome::full) return outcome;
    EXPECT_EQ(set.size(), size);
    EXPECT_EQ(set.num_bytes(), num_bytes);
    EXPECT_FALSE(set.contains(digest));
    if (!set.try_grow(digest)) return Outcome::full;
    EXPECT_EQ(set.size(), size);
    EXPECT_GT(set.num_bytes(), num_bytes);
  }
}

void expect_all(const HashSet& set, const std::vector<Hash128>& digests) {
  std::uint64_t num_missing = 0;
  for (const Hash128 digest : digests) num_missing += !set.contains(digest);
  EXPECT_EQ(num_missing, 0u) << "of " << digests.size();
  std::vector<std::uint32_t> absent(digests.size());
  EXPECT_EQ(set.find_absent(digests, absent), 0u);
  EXPECT_EQ(set.size(), digests.size());
}

/// Random digests, with every twentieth from the edges of where a digest may stand: the first and last
/// lines, the middle, and low halves that are 0.
Hash128 digest_with_edges(Random& random) {
  constexpr std::uint64_t edges[] = {0, 2, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                     (std::uint64_t{1} << 63) - 1};
  const Hash128 digest = random.digest();
  return random.below(20) == 0 ? Hash128{edges[random.below(5)], digest.high} : digest;
}

TEST(HashSet, ClearedItIsEmptyAndKeepsItsMemory) {
  for (const std::uint64_t max_bytes : {std::uint64_t{1} << 16, std::uint64_t{1} << 22}) {
    HashSet set(max_bytes);
    for (int round = 0; round < 3; ++round) {
      Random random(round);
      std::vector<Hash128> digests(3000);
      for (Hash128& digest : digests) digest = random.digest();
      for (const Hash128 digest : digests) ASSERT_EQ(set.insert(digest), HashSet::Outcome::inserted);
      const std::uint64_t num_bytes = set.num_bytes();
      set.clear();
      EXPECT_EQ(set.size(), 0u);
      EXPECT_EQ(set.num_bytes(), num_bytes);
      for (const Hash128 digest : digests) ASSERT_FALSE(set.contains(digest));
    }
    EXPECT_EQ(HashSet(max_bytes, set.image()).size(), 0u);
  }
}

TEST(HashSet, AnswersAsAnExactSetDoesWhileItGrows) {
  HashSet set;
  std::set<std::pair<std::uint64_t, std::uint64_t>> twin;
  std::vector<Hash128> inserted;
  Random random(1);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    Hash128 digest = digest_with_edges(random);
    if (!inserted.empty() && random.below(3) == 0) digest = inserted[random.below(inserted.size())];
    const bool is_new = twin.insert({digest.low, digest.high}).second;
    ASSERT_EQ(set.contains(digest), !is_new) << i;
    ASSERT_EQ(insert_growing(set, digest), is_new ? Outcome::inserted : Outcome::present) << i;
    ASSERT_TRUE(set.contains(digest)) << i;
    if (is_new) inserted.push_back(digest);
    if (i < 10'000 ? i % 100 == 0 : i % 100'000 == 0) expect_all(set, inserted);
  }
  expect_all(set, inserted);
  EXPECT_GT(inserted.size(), 600'000u);
}

TEST(HashSet, ABatchIsAnsweredAsItsDigestsOneByOne) {
  HashSet set;
  Random random(6);
  std::vector<Hash128> digests;
  for (int i = 0; i < 3000; ++i) digests.push_back(digest_with_edges(random));
  for (std::uint64_t shard = 0; shard < 10; ++shard)
    digests[shard] = {0, shard << 58};  // as an empty place is
  for (int i = 0; i < 3000; i += 2) insert_growing(set, digests[i]);
  for (const std::size_t size : {0, 1, 31, 32, 33, 511, 512, 513, 3000}) {
    const std::span batch = std::span(digests).first(size);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (!set.contains(batch[i])) expected.push_back(i);
    }
    EXPECT_EQ(expected.size(), size / 2);
    std::vector<std::uint32_t> absent(size);
    absent.resize(set.find_absent(batch, absent));
    EXPECT_EQ(absent, expected) << size;
  }
}

// The highest six bits of `high` choose the shard, its lower half is kept; the 26 between are not known.
TEST(HashSet, DigestsThatDifferInOneOfTheBitsItKeepsAreTwo) {
  HashSet set;
  std::vector<Hash128> inserted;
  Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    inserted.push_back(random.digest());
    ASSERT_EQ(insert_growing(set, inserted.back()), Outcome::inserted);
  }
  int num_known_bits = 0;
  for (int i = 0; i < 12'800; ++i) {
    Hash128 digest = inserted[i];
    const bool is_low = i % 128 < 64;
    (is_low ? digest.low : digest.high) ^= std::uint64_t{1} << i % 64;
    const bool is_kept = is_low || i % 64 < 32 || i % 64 >= 58;
    num_known_bits += is_kept && i < 128;
    ASSERT_EQ(set.contains(digest), !is_kept) << i;
    ASSERT_EQ(insert_growing(set, digest), is_kept ? Outcome::inserted : Outcome::present) << i;
    if (is_kept) inserted.push_back(digest);
  }
  EXPECT_EQ(num_known_bits, 102);
  expect_all(set, inserted);
}

TEST(HashSet, KeepsManyDigestsOfOneLowHalf) {
  for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1} << 62, ~std::uint64_t{0} >> 1,
                                  std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    HashSet set;
    std::vector<Hash128> inserted;
    Random random(3);
    for (int i = 0; i < 5000; ++i) {
      inserted.push_back({low, random.next()});
      ASSERT_EQ(insert_growing(set, inserted.back()), Outcome::inserted) << low << ' ' << i;
      ASSERT_EQ(set.try_insert(inserted.back()), Outcome::present) << low << ' ' << i;
    }
    expect_all(set, inserted);
  }
}

TEST(HashSet, TakesNoMoreThanItsLimitAndLosesNothingWhenItIsFull) {
  std::vector<std::uint64_t> limits = {
      0, 1, 64, 127, 128, 129, 64 << 10, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20};
  for (std::uint64_t num_lines = 10; num_lines < 300; ++num_lines)
    limits.push_back(64 * num_lines + num_lines % 64);
  for (const std::uint64_t max_bytes : limits) {
    SCOPED_TRACE(max_bytes);
    HashSet set(max_bytes);
    std::vector<Hash128> inserted;
    std::vector<Hash128> refused;
    Random random(4);
    while (refused.size() < 200) {
      const Hash128 digest = digest_with_edges(random);
      const Outcome outcome = insert_growing(set, digest);
      ASSERT_NE(outcome, Outcome::present);
      (outcome == Outcome::inserted ? inserted : refused).push_back(digest);
      ASSERT_LE(set.num_bytes(), std::max(max_bytes, least_bytes));
    }
    expect_all(set, inserted);
    EXPECT_TRUE(std::ranges::none_of(refused, [&](Hash128 digest) { return set.contains(digest); }));
    for (const Hash128 digest : inserted) ASSERT_EQ(set.try_insert(digest), Outcome::present);
    EXPECT_GE(set.size(), 1u);
    if (max_bytes >= 64 << 10) {
      EXPECT_GE(static_cast<double>(set.size()), 0.85 * static_cast<double>(max_bytes) / 64 * 5 * 0.9);
    }
  }
}

TEST(HashSet, InsertGrowingDoesWhatInsertAndTryGrowDo) {
  for (const std::uint64_t max_bytes : {std::uint64_t{5000}, std::uint64_t{2} << 20, ~std::uint64_t{0}}) {
    HashSet set(max_bytes);
    HashSet twin(max_bytes);
    Random random(8);
    for (int i = 0; i < 150'000; ++i) {
      const Hash128 digest = random.digest();
      ASSERT_EQ(set.insert(digest), insert_growing(twin, digest)) << max_bytes << ": " << i;
    }
    EXPECT_EQ(set.image(), twin.image());
    EXPECT_EQ(set.size() == 150'000u, max_bytes == ~std::uint64_t{0});
  }
}

TEST(HashSet, TakesAbout16BytesADigest) {
  HashSet set;
  Random random(5);
  for (int i = 1; i <= 1'000'000; ++i) {
    insert_growing(set, random.digest());
    if (i >= 100'000 && i % 10'000 == 0) {
      const double bytes_per_digest = static_cast<double>(set.num_bytes()) / i;
      ASSERT_GT(bytes_per_digest, 15) << i;
      ASSERT_LT(bytes_per_digest, 16.5) << i;
    }
  }
}

TEST(HashSet, ASetFromAnImageDoesWhatTheOtherWould) {
  for (const std::uint64_t max_bytes :
       {std::uint64_t{128}, std::uint64_t{5000}, std::uint64_t{2} << 20, ~std::uint64_t{0}}) {
    HashSet set(max_bytes);
    Random random(6);
    std::vector<Hash128> inserted{Hash128{}};
    (void)insert_growing(set, inserted[0]);
    for (int i = 0; i < 20'000; ++i) {
      const Hash128 digest = digest_with_edges(random);
      if (insert_growing(set, digest) == Outcome::inserted) inserted.push_back(digest);
    }
    const std::vector<std::uint64_t> image = set.image();
    HashSet copy(max_bytes, image);
    EXPECT_EQ(copy.image(), image);
    EXPECT_EQ(copy.size(), set.size());
    EXPECT_EQ(copy.num_bytes(), set.num_bytes());
    expect_all(copy, inserted);
    for (int i = 0; i < 2000; ++i) {
      const Hash128 digest = random.digest();
      ASSERT_EQ(insert_growing(copy, digest), insert_growing(set, digest));
    }
    EXPECT_EQ(copy.image(), set.image());
  }
}

TEST(HashSet, WhatIsNoImageIsRefused) {
  HashSet set(256);  // four lines
  Random random(7);
  for (int i = 0; i < 14; ++i) (void)set.try_insert(random.digest());
  const std::vector<std::uint64_t> good = set.image();
  ASSERT_EQ(good.size(), 33u);
  ASSERT_EQ(HashSet(256, good).size(), 14u);
  const auto refused = [&](auto change) {
    std::vector<std::uint64_t> image = good;
    change(image);
    EXPECT_THROW(HashSet(256, image), std::invalid_argument);
  };
  refused([](auto& image) { image.clear(); });
  refused([](auto& image) { image.pop_back(); });
  refused([](auto& image) { image.push_back(0); });
  refused([](auto& image) { image[0] = 0; });
  refused([](auto& image) { image[0] = 31; });
  refused([](auto& image) { image[0] = ~std::uint64_t{0}; });
  refused([](auto& image) { image[0] = 40, image.resize(41); });  // five lines
  constexpr std::uint64_t one_digest = std::uint64_t{1} << 32;
  for (std::size_t line = 1; line < good.size(); line += 8) {
    const std::uint64_t count = good[line + 7] >> 32 & 7;
    ASSERT_GT(count, 0u);                                                  // what follows tries nothing else
    refused([&](auto& image) { image[line + 7] += 8 * 2 * one_digest; });  // a bit that means nothing
    refused([&](auto& image) { image[line + 7] += (6 - count) * one_digest; });  // more than a line has
    if (count < 5) refused([&](auto& image) { image[line + count] = 1; });       // behind the last
    refused([&](auto& image) { image[line + 7] -= one_digest; });                // the last one not counted
  }
}

TEST(HashSet, AnImageWithADigestWhereItWouldNotBeFoundIsRefused) {
  HashSet set(64 << 10);
  Random random(8);
  std::vector<Hash128> inserted;
  for (int i = 0; i < 4000; ++i) {
    const Hash128 digest = random.digest();
    if (set.try_insert(digest) == Outcome::inserted) inserted.push_back(digest);
  }
  const std::vector<std::uint64_t> good = set.image();
  const auto is_refused = [&](const std::vector<std::uint64_t>& image) {
    try {
      (void)HashSet(64 << 10, image);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  std::size_t num_moved_refused = 0;
  std::size_t num_refused = 0;
  std::size_t num_passed_over = 0;
  for (std::size_t line = 1; line < good.size(); line += 8) {
    std::vector<std::uint64_t> image = good;
    image[line] ^=
        std::uint64_t{1} << 63;  // its first line is far away now, and so is nearly always its second
    num_moved_refused += is_refused(image);
    image = good;
    constexpr std::uint64_t passed_over = std::uint64_t{8} << 32;
    if ((image[line + 7] & passed_over) == 0) continue;
    ++num_passed_over;
    image[line + 7] -= passed_over;
    if (is_refused(image)) {
      ++num_refused;
    } else {  // the mark had outlived the digest that it was set for
      expect_all(HashSet(64 << 10, image), inserted);
    }
  }
  EXPECT_GT(num_moved_refused, 1000u);
  EXPECT_GT(num_passed_over, 100u);
  EXPECT_GT(num_refused, num_passed_over / 2);
}

}  // namespace
}  // namespace tally

// The longest prefix of a request's blocks that each peer may hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "random.hpp"
#include "sample_summaries.hpp"
#include "tally/summaries/set.hpp"
#include "tally/theory/confidence.hpp"
#include "tally/theory/longest_prefix.hpp"

namespace tally {
namespace {

constexpr std::uint64_t seed = 42;

/// Peers with the first blocks of some requests, as many as their number says, in bits and in cells of several shapes.
SummarySet peers_with_prefixes(std::uint64_t num_peers, std::uint64_t num_requests,
                               std::uint64_t num_blocks) {
  SummarySet set({.hasher = seed});
  test::Random random(1);
  for (std::uint64_t peer = 0; peer < num_peers; ++peer) {
    const auto fill = [&](auto directory) {
      for (std::uint64_t request = 0; request < num_requests; ++request) {
        const std::uint64_t held = random.below(num_blocks + 1);
        for (std::uint64_t block = 0; block < held; ++block) (void)directory.insert(1000 * request + block);
      }
      (void)set.apply(directory.publish());
    };
    const SummaryOptions options{.publisher = "peer" + std::to_string(peer)};
    const std::uint64_t num_keys = num_requests * num_blocks;
    if (peer % 3 == 0) {
      fill(DirectorySummary<DLeftCountingBloomFilter<>>(
          {.buckets_per_subtable = num_keys / 24 + 1, .num_subtables = 4, .cells_per_bucket = 8}, seed,
          options));
    } else {
      const std::uint64_t bits_per_key = peer % 3 == 1 ? 2 : 6;  // false positives are frequent
      fill(DirectorySummary<CountingBloomFilter<>>({.num_counters = bits_per_key * num_keys, .num_hashes = 2},
                                                   seed, options));
    }
  }
  return set;
}

/// By asking for one block after the other.
std::vector<SummarySet::Prefix> one_by_one(const SummarySet& set, const std::vector<std::uint64_t>& blocks) {
  std::vector<SummarySet::Prefix> prefixes;
  set.for_each_peer([&](SummarySet::Peer peer) {
    std::size_t length = 0;
    while (length < blocks.size() && std::ranges::count(set.who_may_have(blocks[length]), peer) != 0)
      ++length;
    if (length != 0) prefixes.push_back({peer, length});
  });
  std::ranges::sort(prefixes, [](const auto& a, const auto& b) {
    return std::pair(b.num_blocks, a.peer) < std::pair(a.num_blocks, b.peer);
  });
  return prefixes;
}

std::vector<std::uint64_t> blocks_of(std::uint64_t request, std::uint64_t num_blocks) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t block = 0; block < num_blocks; ++block) blocks.push_back(1000 * request + block);
  return blocks;
}

TEST(LongestPrefix, IsThatOfAskingForOneBlockAfterTheOther) {
  const SummarySet set = peers_with_prefixes(100, 8, 40);
  for (std::uint64_t request = 0; request < 10; ++request) {  // two of which nobody has
    for (const std::uint64_t num_blocks : {1u, 3u, 4u, 5u, 40u, 200u}) {
      const auto blocks = blocks_of(request, num_blocks);
      EXPECT_EQ(set.longest_prefix(blocks), one_by_one(set, blocks)) << request << " " << num_blocks;
    }
  }
}

TEST(LongestPrefix, IsNeverTooShort) {
  SummarySet set({.hasher = seed});
  DirectorySummary<CountingBloomFilter<>> directory({.num_counters = 500, .num_hashes = 3}, seed, {"a"});
  std::vector<Hash128> digests;
  for (std::uint64_t block = 0; block < 70; ++block) {
    digests.push_back(KeyHasher(seed)(block));
    (void)directory.insert(digests.back());
  }
  (void)set.apply(directory.publish());
  EXPECT_EQ(set.longest_prefix(digests), (std::vector<SummarySet::Prefix>{{*set.find("a"), 70}}));
  (void)directory.remove(digests[30]);
  (void)set.apply(directory.publish());
  EXPECT_GE(set.longest_prefix(digests).front().num_blocks, 30u);
}

// The law is that of a given copy; fixed seed, 99.9% for all lengths together.
TEST(LongestPrefix, IsTooLongAsOftenAsTheLawSays) {
  constexpr std::uint64_t num_requests = 50'000;
  constexpr std::size_t held = 3;
  SummarySet set({.hasher = seed});
  DirectorySummary<CountingBloomFilter<>> directory({.num_counters = 20'000, .num_hashes = 2}, seed, {"a"});
  test::Random random(3);
  std::vector<std::uint64_t> blocks(held + 20);
  for (std::size_t i = 0; i < held; ++i) {
    blocks[i] = random.next();
    (void)directory.insert(blocks[i]);
  }
  for (int i = 0; i < 6000; ++i) (void)directory.insert(random.next());
  (void)set.apply(directory.publish());
  const double rate = set.estimated_false_positive_rate(*set.find("a"));
  std::vector<std::uint64_t> num_longer(blocks.size());
  for (std::uint64_t request = 0; request < num_requests; ++request) {
    for (std::size_t i = held; i < blocks.size(); ++i) blocks[i] = random.next();
    const std::size_t length = set.longest_prefix(blocks).front().num_blocks;
    ASSERT_GE(length, held);
    for (std::size_t j = 1; j <= length - held; ++j) ++num_longer[j];
  }
  constexpr std::uint64_t tested = 5;
  const double confidence = theory::per_test_confidence(0.999, tested);
  for (std::uint64_t j = 1; j <= tested; ++j) {
    const double probability = theory::overstated_prefix_probability(rate, j);
    const auto limits = theory::binomial_acceptance_interval(probability, num_requests, confidence);
    EXPECT_GE(num_longer[j], limits.low) << j;
    EXPECT_LE(num_longer[j], limits.high) << j;
    EXPECT_GT(limits.low, 0u) << j;
  }
}

TEST(LongestPrefix, OfNoBlocksAndOfNoPeersIsEmpty) {
  const SummarySet none({.hasher = seed});
  EXPECT_TRUE(none.longest_prefix(blocks_of(0, 5)).empty());
  const SummarySet set = peers_with_prefixes(5, 2, 10);
  EXPECT_TRUE(set.longest_prefix(std::vector<std::uint64_t>{}).empty());
}

}  // namespace
}  // namespace tally

// Summaries: how long deltas are beside their entropy, and what it costs to ask a thousand peers.
//
//   bench_summaries [NUM_PEERS [NUM_KEYS [ROUNDS]]]     default: 1000 peers of 20,000 keys each, 5 rounds
//
// First the sizes of messages, which do not depend on the machine: a directory of 100,000 keys, of which a share is
// replaced. Then times of one key against all peers: of every replica asked in turn, and of the set; that both name the
// same peers is checked before.

#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/rounds.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/summaries/directory_summary.hpp"
#include "tally/summaries/replica.hpp"
#include "tally/summaries/set.hpp"
#include "tally/theory/summary_cache.hpp"

namespace {

using namespace tally;
using namespace tally::bench;

constexpr std::uint64_t seed = 1;

CountingBloomShape bits_shape(std::uint64_t num_keys) {
  return {.num_counters = 10 * num_keys, .num_hashes = 7, .counter_bits = 4};
}

// 3/4 full: 14 + 2 bits for 0.75 of a key.
DLeftShape cells_shape(std::uint64_t num_keys) {
  return {.buckets_per_subtable = num_keys / 24 + 1, .num_subtables = 4, .cells_per_bucket = 8};
}

std::uint64_t flipped(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += static_cast<std::uint64_t>(std::popcount(a[i] ^ b[i]));
  return count;
}

template <class Filter>
void print_sizes(const typename DirectorySummary<Filter>::Shape& shape, std::uint64_t num_keys,
                 const std::string& name) {
  for (const double share : {0.001, 0.01, 0.1}) {
    DirectorySummary<Filter> directory(shape, seed, {"bench"});
    for (std::uint64_t key = 0; key < num_keys; ++key) {
      require(directory.insert(key) != InsertResult::full, name + " is full");
    }
    const std::size_t full = directory.publish().size();
    const std::vector<std::uint64_t> before(directory.words().begin(), directory.words().end());
    const auto replaced = static_cast<std::uint64_t>(share * static_cast<double>(num_keys));
    for (std::uint64_t key = 0; key < replaced; ++key) {
      require(directory.remove(key) != RemoveResult::refused, "a key is lost");
      require(directory.insert(num_keys + key) != InsertResult::full, name + " is full");
    }
    const std::vector<std::byte> message = directory.publish();
    const SummaryMessage delta = read_summary_message(message);
    const std::uint64_t raw = directory.layout().num_bytes();
    double least = 0;
    if (directory.layout().has_cells()) {
      least = theory::dleft_least_delta_bits(directory.layout().num_units(), num_keys, replaced, replaced,
                                             std::get<DLeftShape>(directory.layout().shape).remainder_bits);
    } else {
      const std::uint64_t count = flipped(before, directory.words());
      require(count == delta.num_changes, "the delta has not the bits that flipped");
      const std::uint64_t num_bits = directory.layout().num_units();
      least = theory::least_delta_bits(num_bits, static_cast<double>(count) / static_cast<double>(num_bits));
    }
    fmt::print(
        "  {:<14} {:>5.1f}% replaced: {:>7} changed, raw {:>7} B, full copy {:>7} B, delta {:>6} B: "
        "1/{:.1f} of raw, {:+.1f}% above its entropy; frame {} B\n",
        name, 100 * share, delta.num_changes, raw, full, message.size(),
        static_cast<double>(raw) / static_cast<double>(message.size()),
        100 * (8 * static_cast<double>(delta.payload.size()) / least - 1),
        message.size() - delta.payload.size());
  }
}

template <class Filter>
void bench_set(const typename DirectorySummary<Filter>::Shape& shape, std::uint64_t num_peers,
               std::uint64_t num_keys, int num_rounds, bool same_shape, const std::string& name) {
  const SummaryTerms terms{.hasher = seed};
  SummarySet set(terms);
  std::vector<SummaryReplica> replicas;
  for (std::uint64_t peer = 0; peer < num_peers; ++peer) {
    auto own = shape;
    if constexpr (std::is_same_v<Filter, CountingBloomFilter<>>) {
      if (!same_shape) own.num_counters += 64 * peer;
    } else if (!same_shape) {
      own.buckets_per_subtable += peer;
    }
    DirectorySummary<Filter> directory(own, seed, {fmt::format("peer{}", peer)});
    for (std::uint64_t key = 0; key < num_keys; ++key) {
      require(directory.insert(digest_of(peer * num_keys + key)) != InsertResult::full, "full");
    }
    const std::vector<std::byte> message = directory.publish();
    (void)set.apply(message);
    replicas.emplace_back(terms);
    (void)replicas.back().apply(message);
  }
  Keys keys;
  constexpr std::size_t num_asked = 128;
  const std::uint64_t total = num_peers * num_keys;
  Times times;
  std::uint64_t sum = 0;
  for (int round = 0; round < num_rounds + 1; ++round) {  // the first one only checks
    // Half of the keys are somewhere.
    std::vector<Hash128> asked;
    for (std::size_t i = 0; i < num_asked; ++i) {
      const std::uint64_t some = mix64(1000 * static_cast<std::uint64_t>(round) + i) % total;
      asked.push_back(digest_of(i % 2 == 0 ? some : first_absent + some));
    }
    std::vector<std::vector<SummarySet::Peer>> by_set(num_asked);
    double start = processor_seconds();
    set.who_may_have_batch(asked, [&](std::size_t i, SummarySet::Peer peer) { by_set[i].push_back(peer); });
    const double set_seconds = processor_seconds() - start;
    std::vector<std::vector<SummarySet::Peer>> one_by_one(num_asked);
    start = processor_seconds();
    for (std::size_t i = 0; i < num_asked; ++i) one_by_one[i] = set.who_may_have(asked[i]);
    const double single_seconds = processor_seconds() - start;
    std::vector<std::vector<SummarySet::Peer>> in_turn(num_asked);
    start = processor_seconds();
    for (std::size_t i = 0; i < num_asked; ++i) {
      for (std::uint32_t peer = 0; peer < num_peers; ++peer) {
        if (replicas[peer].may_contain(asked[i])) in_turn[i].push_back(peer);
      }
    }
    const double turn_seconds = processor_seconds() - start;
    require(by_set == in_turn && one_by_one == in_turn, "set and replicas differ");
    sum += by_set[0].size();
    if (round == 0) continue;
    const auto ns = [&](double seconds) { return 1e9 * seconds / num_asked; };
    times["set, batch"].push_back(ns(set_seconds));
    times["set, one key"].push_back(ns(single_seconds));
    times["every replica in turn"].push_back(ns(turn_seconds));
  }
  fmt::print("{}: {} peers, {} keys each, {:.1f} MB in the set ({:.1f} MB in {} replicas)\n", name, num_peers,
             num_keys, static_cast<double>(set.num_bytes()) / 1e6,
             static_cast<double>(replicas.size() * replicas[0].table()->layout().num_bytes()) / 1e6,
             num_peers);
  print_times(times, "every replica in turn", {"every replica in turn", "set, one key", "set, batch"});
  if (sum == 1) fmt::print("\n");
}

/// Who holds a block, exactly: a hash table of bits, one for each peer.
class ExactIndex {
 public:
  explicit ExactIndex(std::uint64_t num_peers) : num_words_((num_peers + 63) / 64) {}

  void insert(std::uint64_t peer, Hash128 block) {
    std::vector<std::uint64_t>& words = holders_[block.low];
    words.resize(num_words_);
    words[peer / 64] |= std::uint64_t{1} << peer % 64;
  }
  /// How many leading blocks some peer holds.
  std::size_t longest_prefix(std::span<const Hash128> blocks) const {
    std::vector<std::uint64_t> left(num_words_, ~std::uint64_t{0});
    for (std::size_t length = 0; length < blocks.size(); ++length) {
      const auto found = holders_.find(blocks[length].low);
      if (found == holders_.end()) return length;
      std::uint64_t any = 0;
      for (std::size_t i = 0; i < num_words_; ++i) any |= left[i] &= found->second[i];
      if (any == 0) return length;
    }
    return blocks.size();
  }

 private:
  std::size_t num_words_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> holders_;
};

/// Requests of `num_blocks` blocks, of which every tenth peer holds the first half, and one peer all; asked for as prefixes,
/// block by block, and in an exact index of who holds what.
void bench_prefixes(std::uint64_t num_peers, std::uint64_t num_keys, int num_rounds) {
  constexpr std::uint64_t num_requests = 100;
  constexpr std::uint64_t num_blocks = 64;
  SummarySet set({.hasher = seed});
  ExactIndex index(num_peers);
  for (std::uint64_t peer = 0; peer < num_peers; ++peer) {
    DirectorySummary<CountingBloomFilter<>> directory(bits_shape(num_keys), seed,
                                                      {fmt::format("peer{}", peer)});
    std::uint64_t num_inserted = 0;
    const auto insert = [&](std::uint64_t key) {
      require(directory.insert(digest_of(key)) != InsertResult::full, "full");
      if (key < first_absent) index.insert(peer, digest_of(key));
      ++num_inserted;
    };
    for (std::uint64_t request = 0; request < num_requests; ++request) {
      const bool holds_all = request % num_peers == peer;
      const bool holds_half = (request + peer) % 10 == 0;
      for (std::uint64_t block = 0; block < (holds_all    ? num_blocks
                                             : holds_half ? num_blocks / 2
                                                          : 0);
           ++block)
        insert(request * num_blocks + block);
    }
    while (num_inserted < num_keys) insert(first_absent + peer * num_keys + num_inserted);
    (void)set.apply(directory.publish());
  }
  const auto every_block = [&](std::span<const Hash128> blocks) {
    std::size_t num_found = 0;
    set.who_may_have_batch(blocks, [&](std::size_t, SummarySet::Peer) { ++num_found; });
    return num_found != 0;
  };
  const auto by_prefix = [&](std::span<const Hash128> blocks) {
    return set.longest_prefix(blocks).front().num_blocks == num_blocks;
  };
  const auto by_index = [&](std::span<const Hash128> blocks) {
    return index.longest_prefix(blocks) == num_blocks;
  };
  Times times;
  const auto time = [&](const std::string& name, auto ask) {
    const double start = processor_seconds();
    for (std::uint64_t request = 0; request < num_requests; ++request) {
      std::vector<Hash128> blocks;
      for (std::uint64_t block = 0; block < num_blocks; ++block)
        blocks.push_back(digest_of(request * num_blocks + block));
      require(ask(std::span<const Hash128>(blocks)), "a peer is lost");
    }
    times[name].push_back(1e9 * (processor_seconds() - start) / (num_requests * num_blocks));
  };
  for (int round = 0; round < num_rounds; ++round) {
    time("every block", every_block);
    time("longest prefix", by_prefix);
    time("exact index, its length only", by_index);
  }
  fmt::print("prefixes of {} blocks in bits of one shape: ns per block\n", num_blocks);
  print_times(times, "every block", {"every block", "longest prefix", "exact index, its length only"});
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t num_peers = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::uint64_t num_keys = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000;
  const int num_rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  fmt::print("messages, 100,000 keys:\n");
  print_sizes<CountingBloomFilter<>>(bits_shape(100'000), 100'000, "10 bits, k=7");
  print_sizes<DLeftCountingBloomFilter<>>(cells_shape(100'000), 100'000, "d-left, 14+2");
  using Bits = CountingBloomFilter<>;
  using Cells = DLeftCountingBloomFilter<>;
  bench_set<Bits>(bits_shape(num_keys), num_peers, num_keys, num_rounds, true, "bits of one shape");
  bench_set<Bits>(bits_shape(num_keys), num_peers, num_keys, num_rounds, false,
                  "bits of as many shapes as peers");
  bench_set<Cells>(cells_shape(num_keys), num_peers, num_keys, num_rounds, true, "cells of one shape");
  bench_set<Cells>(cells_shape(num_keys), num_peers, num_keys, num_rounds, false,
                   "cells of as many shapes as peers");
  bench_prefixes(num_peers, num_keys, num_rounds);
}

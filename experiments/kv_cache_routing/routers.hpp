#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "prefix_cache.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/summaries/directory_summary.hpp"
#include "tally/summaries/set.hpp"

namespace tally::experiments {

/// That a worker seems to hold the first blocks of a request.
struct HeldPrefix {
  std::uint32_t worker = 0;
  std::size_t num_blocks = 0;
};

/// What the routers of a fleet know of its workers: nothing, unless a class below says more. A request comes to one router, what
/// workers say to all of them.
class Knowledge {
 public:
  virtual ~Knowledge() = default;

  /// The workers that seem to hold the first block.
  virtual std::vector<HeldPrefix> claims(std::uint32_t /*router*/, Blocks /*blocks*/) { return {}; }
  virtual void was_sent(std::uint32_t /*router*/, std::uint32_t /*worker*/, Blocks /*blocks*/) {}
  virtual void inserted(std::uint32_t /*worker*/, std::uint64_t /*block*/) {}
  virtual void removed(std::uint32_t /*worker*/, std::uint64_t /*block*/) {}
  /// After each request, with their number so far.
  virtual void after_request(std::uint64_t /*num_requests*/) {}

  std::uint64_t bytes_sent = 0;  ///< by workers, to one router
  /// Of one router.
  virtual std::uint64_t memory_bytes() const { return 0; }
};

/// A table of who holds what.
class BlockIndex {
 public:
  explicit BlockIndex(std::uint32_t num_workers) : num_words_((num_workers + 63) / 64) {}

  void insert(std::uint32_t worker, std::uint64_t block) {
    std::vector<std::uint64_t>& words = holders_[block];
    words.resize(num_words_);
    words[worker / 64] |= std::uint64_t{1} << worker % 64;
    ++num_pairs_;
  }
  void remove(std::uint32_t worker, std::uint64_t block) {
    const auto found = holders_.find(block);
    found->second[worker / 64] &= ~(std::uint64_t{1} << worker % 64);
    --num_pairs_;
    if (std::ranges::all_of(found->second, [](std::uint64_t word) { return word == 0; }))
      holders_.erase(found);
  }

  std::vector<HeldPrefix> claims(Blocks blocks) const {
    std::vector<HeldPrefix> claims;
    std::vector<std::uint64_t> left(num_words_, ~std::uint64_t{0});
    for (std::size_t length = 0; length <= blocks.size(); ++length) {
      const auto found = length < blocks.size() ? holders_.find(blocks[length]) : holders_.end();
      bool any = false;
      for (std::size_t i = 0; i < num_words_; ++i) {
        const std::uint64_t have = found == holders_.end() ? 0 : found->second[i];
        if (length != 0)
          for (std::uint64_t word = left[i] & ~have; word != 0; word &= word - 1)
            claims.push_back(
                {static_cast<std::uint32_t>(64 * i) + static_cast<std::uint32_t>(std::countr_zero(word)),
                 length});
        any = (left[i] &= have) != 0 || any;
      }
      if (!any) break;
    }
    return claims;
  }

  /// A block's digest of 16 bytes and a worker's number of 4 for each pair, in a hash table that is three quarters full.
  std::uint64_t memory_bytes() const { return num_pairs_ * 20 * 4 / 3; }

 private:
  std::size_t num_words_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> holders_;
  std::uint64_t num_pairs_ = 0;
};

/// Every worker tells every change at once.
class ExactEvents : public Knowledge {
 public:
  explicit ExactEvents(std::uint32_t num_workers) : index_(num_workers) {}
  /// A block's digest, and whether it came or went; nothing for the frame.
  static constexpr std::uint64_t bytes_per_event = 17;

  std::vector<HeldPrefix> claims(std::uint32_t, Blocks blocks) override { return index_.claims(blocks); }
  void inserted(std::uint32_t worker, std::uint64_t block) override {
    index_.insert(worker, block);
    bytes_sent += bytes_per_event;
  }
  void removed(std::uint32_t worker, std::uint64_t block) override {
    index_.remove(worker, block);
    bytes_sent += bytes_per_event;
  }
  std::uint64_t memory_bytes() const override { return index_.memory_bytes(); }

 private:
  BlockIndex index_;
};

/// Every router remembers what it sent to whom, as much as a worker's cache holds; workers tell nothing.
class OwnRequests : public Knowledge {
 public:
  OwnRequests(std::uint32_t num_routers, std::uint32_t num_workers, std::size_t capacity) {
    for (std::uint32_t i = 0; i < num_routers; ++i)
      routers_.push_back({BlockIndex(num_workers), {num_workers, PrefixCache(capacity)}});
  }

  std::vector<HeldPrefix> claims(std::uint32_t router, Blocks blocks) override {
    return routers_[router].index.claims(blocks);
  }
  void was_sent(std::uint32_t router, std::uint32_t worker, Blocks blocks) override {
    Router& own = routers_[router];
    own.caches[worker].use(
        blocks, [&](std::uint64_t block) { own.index.insert(worker, block); },
        [&](std::uint64_t block) { own.index.remove(worker, block); });
  }
  std::uint64_t memory_bytes() const override { return routers_.front().index.memory_bytes(); }

 private:
  struct Router {
    BlockIndex index;
    std::vector<PrefixCache> caches;
  };
  std::vector<Router> routers_;
};

/// Every worker sends a summary of its cache, at intervals of requests to the whole fleet, or after each request that changed it.
template <class Filter>
class Summaries : public Knowledge {
 public:
  using Directory = DirectorySummary<Filter>;

  Summaries(std::uint32_t num_workers, const typename Directory::Shape& shape, std::uint64_t interval,
            std::uint64_t seed)
      : interval_(interval), set_({.hasher = seed}), has_changed_(num_workers) {
    for (std::uint32_t worker = 0; worker < num_workers; ++worker) {
      directories_.emplace_back(shape, seed, SummaryOptions{.publisher = std::to_string(worker), .epoch = 1});
      publish(worker);
      workers_of_.resize(std::max<std::size_t>(workers_of_.size(), *set_.find(std::to_string(worker)) + 1));
      workers_of_[*set_.find(std::to_string(worker))] = worker;
    }
    bytes_sent = 0;
  }

  std::vector<HeldPrefix> claims(std::uint32_t, Blocks blocks) override {
    std::vector<HeldPrefix> claims;
    for (const SummarySet::Prefix& prefix : set_.longest_prefix(blocks))
      claims.push_back({workers_of_[prefix.peer], prefix.num_blocks});
    return claims;
  }
  void inserted(std::uint32_t worker, std::uint64_t block) override {
    if (directories_[worker].insert(block) == InsertResult::full) ++num_lost;
    has_changed_[worker] = true;
  }
  void removed(std::uint32_t worker, std::uint64_t block) override {
    if (directories_[worker].remove(block) == RemoveResult::refused) ++num_lost;
    has_changed_[worker] = true;
  }
  void after_request(std::uint64_t num_requests) override {
    const std::uint64_t num_workers = directories_.size();
    for (std::uint32_t worker = 0; worker < num_workers; ++worker) {
      const bool is_due = (num_requests + worker * interval_ / num_workers) % interval_ == 0;
      if (is_due && has_changed_[worker]) publish(worker);
    }
  }
  std::uint64_t memory_bytes() const override { return set_.num_bytes(); }

  std::uint64_t num_lost = 0;  ///< changes that a filter refused: none, if the plan is right

 private:
  void publish(std::uint32_t worker) {
    const std::vector<std::byte> message = directories_[worker].publish();
    bytes_sent += message.size();
    (void)set_.apply(message);
    has_changed_[worker] = false;
  }

  std::uint64_t interval_;
  SummarySet set_;
  std::vector<Directory> directories_;
  std::vector<bool> has_changed_;
  std::vector<std::uint32_t> workers_of_;  // by number of the peer
};

}  // namespace tally::experiments

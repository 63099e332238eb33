#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/summaries/directory_summary.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/set.hpp"

namespace tally::experiments {

/// Messages of one kind of summary, of all proxies.
struct MessageCounts {
  std::uint64_t num_messages = 0;
  std::uint64_t num_bytes = 0;
  std::uint64_t num_deltas = 0;
  std::uint64_t delta_bytes = 0;
  std::uint64_t changed_units = 0;  ///< of the deltas
  std::uint64_t num_full = 0;       ///< full copies made beside, to know their length
  std::uint64_t full_bytes = 0;
};

/// The summaries of all proxies in one shape, and what the others know from their messages. Every proxy gets
/// every message, so one set of replicas stands for those of all.
class CacheSummaries {
 public:
  virtual ~CacheSummaries() = default;
  virtual void remove(std::uint32_t proxy, Hash128 digest) = 0;
  virtual void insert(std::uint32_t proxy, Hash128 digest) = 0;
  virtual void publish(std::uint32_t proxy) = 0;
  /// Bit i: proxy i may have the document.
  virtual std::uint32_t told(Hash128 digest) const = 0;
  virtual std::uint64_t own_bytes() const = 0;      ///< of a proxy's own filter
  virtual std::uint64_t replica_bytes() const = 0;  ///< of a copy of one peer's
  virtual std::uint64_t num_saturated() const = 0;  ///< insertions that left a counter at its maximum
  virtual std::uint64_t largest_counter() const = 0;
  MessageCounts counts;
};

template <class Filter>
class CacheSummariesOf final : public CacheSummaries {
 public:
  using Shape = typename DirectorySummary<Filter>::Shape;

  CacheSummariesOf(const Shape& shape, std::uint32_t num_proxies)
      : set_(SummaryTerms{}), bytes_(num_bytes(shape)) {
    for (std::uint32_t i = 0; i < num_proxies; ++i)
      own_.emplace_back(shape, KeyHasher(0), SummaryOptions{name(i), 1});
  }

  void remove(std::uint32_t proxy, Hash128 digest) override { (void)own_[proxy].remove(digest); }

  void insert(std::uint32_t proxy, Hash128 digest) override {
    const InsertResult result = own_[proxy].insert(digest);
    if (result == InsertResult::full) throw std::runtime_error("a d-left filter is full");
    num_saturated_ += result == InsertResult::saturated;
  }

  void publish(std::uint32_t proxy) override {
    DirectorySummary<Filter>& summary = own_[proxy];
    const std::vector<std::byte> bytes = summary.publish(SummaryTime{});
    const SummaryMessage message = read_summary_message(bytes);
    const SummarySet::Applied applied = set_.apply(message);
    if (applied.result == ApplyResult::behind) throw std::runtime_error("a replica missed a message");
    if (proxy_of_.size() <= applied.peer) proxy_of_.resize(applied.peer + 1);
    proxy_of_[applied.peer] = proxy;
    replica_bytes_ = message.layout.num_bytes();
    ++counts.num_messages;
    counts.num_bytes += bytes.size();
    if (message.kind == SummaryMessageKind::delta) {
      ++counts.num_deltas;
      counts.delta_bytes += bytes.size();
      counts.changed_units += message.num_changes;
    }
    if (counts.num_messages % full_copy_each == 1) {
      ++counts.num_full;
      counts.full_bytes += summary.full(SummaryTime{}).size();
      note_largest(summary.filter());
    }
  }

  std::uint32_t told(Hash128 digest) const override {
    std::uint32_t proxies = 0;
    for (const SummarySet::Peer peer : set_.who_may_have(digest)) proxies |= 1u << proxy_of_[peer];
    return proxies;
  }

  std::uint64_t own_bytes() const override { return bytes_; }
  std::uint64_t replica_bytes() const override { return replica_bytes_; }
  std::uint64_t num_saturated() const override { return num_saturated_; }
  std::uint64_t largest_counter() const override { return largest_; }

 private:
  static constexpr std::uint64_t full_copy_each = 64;

  static std::string name(std::uint32_t proxy) { return "proxy " + std::to_string(proxy); }

  void note_largest(const Filter& filter) {
    if constexpr (requires { filter.storage().num_at_least(1, 0, 1); }) {
      const auto& counters = filter.storage();
      while (largest_ < counters.max() && counters.num_at_least(largest_ + 1, 0, counters.size()) != 0)
        ++largest_;
    }
  }

  std::vector<DirectorySummary<Filter>> own_;
  SummarySet set_;
  std::vector<std::uint32_t> proxy_of_;  // of each peer of the set
  std::uint64_t bytes_;
  std::uint64_t replica_bytes_ = 0;
  std::uint64_t num_saturated_ = 0;
  std::uint64_t largest_ = 0;
};

/// How a proxy's summary is made; for a Bloom filter bits and hashes, for a d-left filter remainder bits.
struct SummaryKind {
  std::uint32_t bits_per_key = 0;  ///< 0: d-left
  std::uint32_t num_hashes = 0;
  std::uint32_t remainder_bits = 0;

  friend bool operator==(const SummaryKind&, const SummaryKind&) = default;

  bool has_bits() const { return bits_per_key != 0; }
  /// Whether the page has all its numbers, or those of other policies as well.
  bool is_compared() const { return bits_per_key == 10 || num_hashes > 20 || remainder_bits == 14; }
  bool is_main() const { return bits_per_key == 10 && num_hashes == 7; }

  std::string name() const {
    if (!has_bits()) return "d-left r = " + std::to_string(remainder_bits);
    return "Bloom " + std::to_string(bits_per_key) + " bits k = " + std::to_string(num_hashes);
  }
  /// The paper's shape: load 6 of 8 cells in 4 subtables, counters of 2 bits.
  DLeftShape dleft_shape(std::uint64_t num_keys) const {
    return {.buckets_per_subtable = (num_keys + 23) / 24,
            .remainder_bits = remainder_bits,
            .least_remainder_bits = remainder_bits};
  }
  CountingBloomShape bloom_shape(std::uint64_t num_keys) const {
    return {bits_per_key * num_keys, num_hashes, 4, 1};
  }

  std::unique_ptr<CacheSummaries> make(std::uint64_t num_keys, std::uint32_t num_proxies) const {
    if (!has_bits())
      return std::make_unique<CacheSummariesOf<DLeftCountingBloomFilter<>>>(dleft_shape(num_keys),
                                                                            num_proxies);
    return std::make_unique<CacheSummariesOf<CountingBloomFilter<>>>(bloom_shape(num_keys), num_proxies);
  }
};

}  // namespace tally::experiments

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/plan_request.hpp"
#include "support/random.hpp"
#include "tally/any_filter.hpp"
#include "tally/planner/plan.hpp"

namespace tally::test {

/// A filter of a plan, driven with keys as the request describes them.
class PlannedFilter {
 public:
  PlannedFilter(const PlanRequest& request, const Candidate& candidate, std::uint64_t seed)
      : request_(request),
        num_keys_(candidate.num_keys << num_doublings_of(request, candidate)),
        random_(seed),
        filter_(candidate.shape, seed) {
    // The plan knows their sum only: it says what holds on average.
    const Requirements& wanted = request.requirements;
    if (wanted.num_insertions)
      counts_ = counts_of_insertions(request.counts.size(), *wanted.num_insertions, random_);
  }

  /// How often a plan for the request says that the filter may double.
  static std::uint32_t num_doublings_of(const PlanRequest& request, const Candidate& candidate) {
    return candidate.shape.kind() == FilterKind::dleft ? request.requirements.max_doublings.value_or(0) : 0;
  }

  /// Inserts all keys as often as they occur: each time after all others, or in random order where the plan rests on that.
  /// How many were refused.
  std::uint64_t fill() {
    if (request_.requirements.update == CounterUpdate::conservative) return fill_in_random_order();
    std::uint64_t num_full = 0;
    std::uint64_t most = 0;
    for (std::uint64_t key = 0; key < num_keys_; ++key) most = std::max(most, count_of(key));
    std::vector<Hash128> digests;
    for (std::uint64_t round = 0; round < most; ++round) {
      for (std::uint64_t key = 0; key < num_keys_; ++key)
        if (count_of(key) > round) num_full += insert_in_pieces(digests, key);
      num_full += insert_all(digests);
    }
    return num_full;
  }

  /// Replaces keys by new ones that occur as often. How many insertions or removals were refused.
  std::uint64_t replace(std::uint64_t num_keys) {
    std::uint64_t num_refused = 0;
    for (std::uint64_t i = 0; i < num_keys; ++i) {
      const std::uint64_t old = first_key_;
      const std::uint64_t young = first_key_ + num_keys_;
      const std::uint64_t count = count_of(first_key_);
      for (std::uint64_t c = 0; c < count; ++c) num_refused += filter_.remove(old) == RemoveResult::refused;
      for (std::uint64_t c = 0; c < count; ++c) num_refused += filter_.insert(young) == InsertResult::full;
      ++first_key_;
    }
    return num_refused;
  }

  /// How many of the keys are missing, or counted as fewer than they are.
  std::uint64_t num_missed() const {
    std::uint64_t num_missed = 0;
    for (std::uint64_t key = first_key_; key < first_key_ + num_keys_; ++key) {
      if (!filter_.can_count()) {
        num_missed += !filter_.may_contain(key);
      } else {
        const Count count = filter_.count(key);
        num_missed += count.value < count_of(key) && !count.saturated;
      }
    }
    return num_missed;
  }

  /// How many of `num_queries` keys that were never inserted are taken for keys at the threshold.
  std::uint64_t num_false(std::uint64_t num_queries) {
    std::vector<Hash128> digests(std::min(num_queries, piece));
    std::uint64_t num_false = 0;
    for (std::uint64_t done = 0; done < num_queries; done += digests.size()) {
      digests.resize(std::min<std::uint64_t>(digests.size(), num_queries - done));
      for (Hash128& digest : digests) digest = filter_.hasher()(random_.next() | absent_keys);
      num_false += num_at_threshold(digests);
    }
    return num_false;
  }

  /// The keys with a count of 1 to `most`, below the threshold.
  std::vector<Hash128> keys_up_to(std::uint64_t most) const {
    std::vector<Hash128> digests;
    for (std::uint64_t key = first_key_; key < first_key_ + num_keys_; ++key)
      if (count_of(key) <= most) digests.push_back(digest_of(key));
    return digests;
  }

  std::uint64_t num_at_threshold(std::span<const Hash128> digests) const {
    const std::unique_ptr<bool[]> positive(new bool[digests.size()]);
    const std::span<bool> results(positive.get(), digests.size());
    if (filter_.can_count()) {
      filter_.at_least_batch(digests, request_.requirements.theta(), results);
    } else {
      filter_.may_contain_batch(digests, results);
    }
    return static_cast<std::uint64_t>(std::ranges::count(results, true));
  }

  /// What a refusal of an insertion is printed with.
  std::string state() const {
    const auto dleft = filter_.dleft_statistics();
    if (!dleft) return "";
    const DLeftTableStatistics& table = dleft->table;
    return std::to_string(table.num_fingerprints) + " of " + std::to_string(table.num_cells) + " cells, " +
           std::to_string(table.num_spilled) + " of " + std::to_string(table.spill_capacity) + " entries";
  }
  std::uint64_t num_bytes() const { return filter_.words().size_bytes() + filter_.side_words().size_bytes(); }
  const AnyFilter& filter() const { return filter_; }

 private:
  static constexpr std::uint64_t piece = 4096;
  static constexpr std::uint64_t absent_keys = std::uint64_t{1} << 63;

  Hash128 digest_of(std::uint64_t key) const { return filter_.hasher()(key); }
  std::uint64_t count_of(std::uint64_t key) const {
    const std::uint64_t slot = key % num_keys_;
    return counts_.empty() ? request_.count_of(slot) : counts_[slot % counts_.size()];
  }

  std::uint64_t insert_all(std::vector<Hash128>& digests) {
    const std::uint64_t num_full = digests.empty() ? 0 : filter_.insert_batch(digests);
    digests.clear();
    return num_full;
  }
  std::uint64_t insert_in_pieces(std::vector<Hash128>& digests, std::uint64_t key) {
    digests.push_back(digest_of(key));
    return digests.size() < piece ? 0 : insert_all(digests);
  }
  std::uint64_t fill_in_random_order() {
    std::vector<Hash128> digests;
    for (std::uint64_t key = 0; key < num_keys_; ++key)
      digests.insert(digests.end(), count_of(key), digest_of(key));
    for (std::uint64_t i = digests.size(); i > 1; --i) std::swap(digests[i - 1], digests[random_.below(i)]);
    return insert_all(digests);
  }

  const PlanRequest& request_;
  std::uint64_t num_keys_;
  Random random_;
  AnyFilter filter_;
  std::vector<std::uint64_t> counts_;  // if they are not those of the request
  std::uint64_t first_key_ = 0;
};

}  // namespace tally::test

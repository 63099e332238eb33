#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/summaries/directory_summary.hpp"

namespace tally::cli {

/// A DirectorySummary whose kind is chosen at run time.
class NodeDirectory {
 public:
  NodeDirectory(const CountingBloomShape& shape, const KeyHasher& hasher, SummaryOptions options)
      : summary_(std::in_place_index<0>, shape, hasher, std::move(options)) {}
  NodeDirectory(const DLeftShape& shape, const KeyHasher& hasher, SummaryOptions options)
      : summary_(std::in_place_index<1>, shape, hasher, std::move(options)) {}

  /// With the contents of a filter.
  template <class Filter>
  NodeDirectory(Filter filter, SummaryOptions options)
      : summary_(std::in_place_type<DirectorySummary<Filter>>, std::move(filter), std::move(options)) {}

  /// Returns how many were refused because the filter is full.
  std::uint64_t insert(std::span<const Hash128> digests) {
    return std::visit([&](auto& summary) { return summary.insert_batch(digests); }, summary_);
  }
  /// Returns how many were refused as provably absent.
  std::uint64_t remove(std::span<const Hash128> digests) {
    results_.resize(digests.size());
    std::visit([&](auto& summary) { summary.remove_batch(digests, std::span(results_)); }, summary_);
    return static_cast<std::uint64_t>(std::count(results_.begin(), results_.end(), RemoveResult::refused));
  }

  std::vector<std::byte> publish() {
    return std::visit([](auto& summary) { return summary.publish(); }, summary_);
  }
  std::vector<std::byte> heartbeat() const {
    return std::visit([](auto& summary) { return summary.heartbeat(); }, summary_);
  }
  std::vector<std::byte> answer(const SummaryMessage& request) {
    return std::visit([&](auto& summary) { return summary.answer(request); }, summary_);
  }

  PendingChanges pending() const {
    return std::visit([](auto& summary) { return summary.pending(); }, summary_);
  }
  SummaryVersion version() const {
    return std::visit([](auto& summary) { return summary.version(); }, summary_);
  }
  SummaryLayout layout() const {
    return std::visit([](auto& summary) -> SummaryLayout { return summary.layout(); }, summary_);
  }

 private:
  std::variant<DirectorySummary<CountingBloomFilter<>>, DirectorySummary<DLeftCountingBloomFilter<>>>
      summary_;
  std::vector<RemoveResult> results_;
};

}  // namespace tally::cli

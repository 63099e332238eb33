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
    num_changes_ += digests.size();
    const std::uint64_t num_full =
        std::visit([&](auto& summary) { return summary.insert_batch(digests); }, summary_);
    num_refused_ += num_full;
    return num_full;
  }
  /// Returns how many were refused as provably absent.
  std::uint64_t remove(std::span<const Hash128> digests) {
    num_changes_ += digests.size();
    results_.resize(digests.size());
    std::visit([&](auto& summary) { summary.remove_batch(digests, std::span(results_)); }, summary_);
    const auto num_absent =
        static_cast<std::uint64_t>(std::count(results_.begin(), results_.end(), RemoveResult::refused));
    num_refused_ += num_absent;
    return num_absent;
  }

  /// Other contents, of which followers hear in the next version. Throws std::bad_alloc, and then changes nothing.
  template <class Filter>
  void replace(Filter filter) {
    SummaryPublisher publisher =
        std::visit([](const auto& summary) { return summary.publisher(); }, summary_);
    summary_ = DirectorySummary<Filter>(std::move(filter), std::move(publisher));
    is_replaced_ = true;
    ++num_changes_;
  }
  /// Whether followers have not heard of other contents yet.
  bool is_replaced() const noexcept { return is_replaced_; }

  /// Calls use(filter).
  template <class Use>
  auto with_filter(Use use) const {
    return std::visit([&](const auto& summary) { return use(summary.filter()); }, summary_);
  }

  /// Grows with every change.
  std::uint64_t num_changes() const noexcept { return num_changes_; }
  /// Changes that were refused so far.
  std::uint64_t num_refused() const noexcept { return num_refused_; }

  std::vector<std::byte> publish() {
    std::vector<std::byte> message = std::visit([](auto& summary) { return summary.publish(); }, summary_);
    is_replaced_ = false;
    return message;
  }
  std::vector<std::byte> full() const {
    return std::visit([](auto& summary) { return summary.full(); }, summary_);
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
  bool is_replaced_ = false;
  std::uint64_t num_changes_ = 0;
  std::uint64_t num_refused_ = 0;
};

}  // namespace tally::cli

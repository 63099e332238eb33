#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "commands/counted_texts.hpp"
#include "commands/over_report.hpp"
#include "input/key_loop.hpp"
#include "tally/streams/threshold.hpp"

namespace tally::cli {

/// `over --counts-at-end`: the reported keys, counted from their report on.
///
/// The count at the report is N, never more: every earlier occurrence was counted lower. So the count of a key that
/// the stream reports too early is too high by at most N - 1, and no count is too low.
class OverCounts {
 public:
  OverCounts(const OverOptions& options, ThresholdStream& stream, OverReport& report);

  /// Reads all keys.
  void read(const KeyHasher& hasher, KeyTotals& totals);
  /// Writes them with their counts.
  void write();

  void add_to(Json& summary, bool counts_exactly) const;
  void remark_accuracy(bool counts_exactly) const;

 private:
  void add_batch(Texts texts, std::span<const Hash128> digests);

  const OverOptions& options_;
  ThresholdStream& stream_;
  OverReport& report_;
  CountedTexts keys_;
  std::uint64_t num_not_counted_ = 0;
  Batch<std::uint32_t> indices_{};
  Batch<Hash128> left_digests_{};
  Batch<std::uint32_t> left_{};
  std::vector<std::size_t> places_;  // in the batch, where its new keys were reported
};

}  // namespace tally::cli

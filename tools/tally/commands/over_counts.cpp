#include "commands/over_counts.hpp"

#include <fmt/core.h>

#include <limits>

namespace tally::cli {

OverCounts::OverCounts(const OverOptions& options, ThresholdStream& stream, OverReport& report)
    : options_(options),
      stream_(stream),
      report_(report),
      keys_(options.memory_bytes ? *options.memory_bytes - *options.memory_of_stream()
                                 : std::numeric_limits<std::uint64_t>::max()) {}

void OverCounts::read(const KeyHasher& hasher, KeyTotals& totals) {
  for_each_batch(report_.input(), hasher, options_.quiet, totals,
                 [&](Texts, Texts texts, std::span<const Hash128> digests) { add_batch(texts, digests); });
}

void OverCounts::add_batch(Texts texts, std::span<const Hash128> digests) {
  keys_.find_batch(digests, indices_);
  std::size_t num_left = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (indices_[i] != CountedTexts::not_there) {
      keys_.add_one(indices_[i]);
    } else {
      left_[num_left] = static_cast<std::uint32_t>(i);
      left_digests_[num_left++] = digests[i];
    }
  }
  const std::span left = std::span<const Hash128>(left_digests_).first(num_left);
  const std::span<const ReachedKey> reached = stream_.add_batch(left);
  if (reached.empty()) return;

  const std::size_t num_before = keys_.size();
  places_.clear();
  for (const ReachedKey& key : reached) {
    if (keys_.insert(left[key.index], options_.threshold, texts[left_[key.index]])) {
      places_.push_back(key.index);
    } else {
      ++num_not_counted_;
      report_.write_counted(texts[left_[key.index]], options_.threshold, false);
    }
  }
  // The stream leaves out what follows a report in the same batch.
  for (std::size_t i = reached.front().index + 1; i < left.size(); ++i) {
    const std::optional<std::size_t> index = keys_.find(left[i]);
    if (index && places_[*index - num_before] < i) keys_.add_one(*index);
  }
}

void OverCounts::write() {
  for (std::size_t i = 0; i < keys_.size(); ++i)
    report_.write_counted(keys_[i].text_view(), keys_[i].count, true);
}

void OverCounts::add_to(Json& summary, bool counts_exactly) const {
  summary["counts_too_high_by_at_most"] = counts_exactly ? 0 : options_.threshold - 1;
  summary["num_keys_not_counted"] = num_not_counted_;
  summary["memory_bytes_of_counts"] = keys_.num_bytes();
}

void OverCounts::remark_accuracy(bool counts_exactly) const {
  if (counts_exactly) {
    remark(options_.quiet, "all counts are exact");
  } else {
    remark(options_.quiet,
           fmt::format("counts are exact, except that those of false reports are too high by at most {}",
                       options_.threshold - 1));
  }
  if (num_not_counted_ > 0) {
    remark(false, fmt::format(
                      "warning: {} keys were printed as '>={}' and not counted further, because there was no "
                      "room for their counts; give more --memory",
                      num_not_counted_, options_.threshold));
  }
}

}  // namespace tally::cli

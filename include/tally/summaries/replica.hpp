#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/filters/key_batch.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/positions.hpp"
#include "tally/summaries/status.hpp"
#include "tally/summaries/table.hpp"
#include "tally/summaries/terms.hpp"

namespace tally {

/// A copy of one peer's summary. For many peers, SummarySet.
///
/// Law: at the version held it has the publisher's bits (cells) exactly, so `may_contain` is true for every key
/// that was in the directory then. Before the first full copy it is the empty directory. Messages may be lost, repeated
/// and come in any order; damaged ones are refused. status() tells how far behind it is.
/// Thread rule: reads (const functions) may run together, a write runs alone.
class SummaryReplica {
 public:
  /// Of any publisher: the first message decides. Or of the one so called.
  explicit SummaryReplica(const SummaryTerms& terms, std::string publisher = {});

  SummaryReplica(const SummaryReplica&) = default;
  SummaryReplica(SummaryReplica&&) noexcept = default;
  SummaryReplica& operator=(const SummaryReplica& other) { return *this = SummaryReplica(other); }
  SummaryReplica& operator=(SummaryReplica&&) noexcept = default;
  ~SummaryReplica() = default;

  /// Takes a message. A request changes nothing. Throws FormatError for bytes that are no message; std::invalid_argument
  /// for another publisher's, and for what the terms do not allow, naming the field; std::bad_alloc. Nothing
  /// has changed then.
  ApplyResult apply(std::span<const std::byte> message);
  ApplyResult apply(const SummaryMessage& message);

  template <class Key>
  bool may_contain(const Key& key) const noexcept {
    return contains(terms_.hasher(key));
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& key_range, std::span<bool> results) const noexcept {
    const std::span keys(key_range);
    for (std::size_t i = 0; i < keys.size(); ++i) results[i] = contains(terms_.hasher(keys[i]));
  }

  const SummaryStatus& status() const noexcept { return status_; }
  const std::string& publisher() const noexcept { return publisher_; }
  /// The units held; nothing before the first full copy.
  const std::optional<SummaryTable>& table() const noexcept { return table_; }

  /// Of a key that is not in the directory, of the copy as it is: exact for cells, for bits fill^k.
  double estimated_false_positive_rate() const;

  /// Asks the publisher for a full copy. Nothing if it never heard of one.
  std::vector<std::byte> request(SummaryTime now = summary_time_now()) const;

 private:
  bool contains(Hash128 digest) const noexcept;

  SummaryTerms terms_;
  std::string publisher_;
  SummaryStatus status_;
  std::optional<SummaryLayout> layout_;  // of the last message
  std::optional<SummaryTable> table_;
  std::optional<SummaryPositions> positions_;
};

/// Of a key that is not in the directory: the share of possible fingerprints that are held; for bits fill^k, which
/// is exact for schemes whose positions are independent and lie anywhere, and near it for the others.
double summary_false_positive_rate(const SummaryLayout& layout, std::uint64_t num_nonzero);

}  // namespace tally

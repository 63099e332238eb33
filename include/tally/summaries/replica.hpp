#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/detail/parameter_error.hpp"
#include "tally/export.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/positions.hpp"
#include "tally/summaries/status.hpp"
#include "tally/summaries/table.hpp"
#include "tally/summaries/terms.hpp"

namespace tally {

/// A copy of one peer's summary. For many peers, use SummarySet.
///
/// Guarantee: at the version held it has exactly the publisher's bits (cells), so `may_contain` is true for
/// every key that was in the directory then. Before the first full copy it is the empty directory. Messages
/// may be lost, repeated and arrive in any order; damaged messages are refused. status() tells how far behind
/// the copy is.
/// Threads: const functions may run concurrently; a write needs exclusive access.
class TALLY_EXPORT SummaryReplica {
 public:
  /// For any publisher, which the first message determines, or for the publisher with this name.
  explicit SummaryReplica(const SummaryTerms& terms, std::string publisher = {});

  SummaryReplica(const SummaryReplica&) = default;
  SummaryReplica(SummaryReplica&&) noexcept = default;
  SummaryReplica& operator=(const SummaryReplica& other) { return *this = SummaryReplica(other); }
  SummaryReplica& operator=(SummaryReplica&&) noexcept = default;
  ~SummaryReplica() = default;

  /// Applies a message. A request changes nothing. Throws FormatError for bytes that are not a valid message;
  /// std::invalid_argument for a message of another publisher, and for one that the terms do not allow,
  /// naming the field; std::bad_alloc. Then nothing has changed.
  ApplyResult apply(std::span<const std::byte> message);
  ApplyResult apply(const SummaryMessage& message);

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return contains(terms_.hasher(key));
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& key_range, std::span<bool> results) const {
    detail::require_one_per_key("may_contain_batch", "results", std::span(key_range).size(), results.size());
    const std::span keys(key_range);
    for (std::size_t i = 0; i < keys.size(); ++i) results[i] = contains(terms_.hasher(keys[i]));
  }

  const SummaryStatus& status() const noexcept { return status_; }
  const std::string& publisher() const noexcept { return publisher_; }
  /// The units held; empty before the first full copy.
  const std::optional<SummaryTable>& table() const noexcept { return table_; }

  /// For a key that is not in the directory, given the current copy: exact for cells, fill^k for bits.
  double estimated_false_positive_rate() const;

  /// A request to the publisher for a full copy. Empty if it has never received anything from one.
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

/// For a key that is not in the directory: the share of possible fingerprints that are held. For bits fill^k,
/// which is exact for schemes whose positions are independent and may be anywhere, and close for the others.
TALLY_EXPORT double summary_false_positive_rate(const SummaryLayout& layout, std::uint64_t num_nonzero);

}  // namespace tally

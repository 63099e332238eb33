#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tally/summaries/message.hpp"
#include "tally/summaries/table.hpp"

namespace tally {

/// A unit and the value it has now.
struct UnitChange {
  std::uint64_t unit = 0;
  std::uint32_t value = 0;

  friend bool operator==(const UnitChange&, const UnitChange&) = default;
};

/// What changed between two versions of a directory, by ascending unit. A message of it is about as long as its
/// entropy allows: distances are Golomb-Rice coded, a cell's new count is written in unary and its remainder as it is.
struct SummaryDelta {
  SummaryLayout layout;
  std::vector<UnitChange> changes;

  /// From `before` to `after`, which are of one layout; std::invalid_argument otherwise.
  static SummaryDelta between(const SummaryTable& before, const SummaryTable& after);

  /// Of the payload of its message.
  std::uint64_t num_bytes() const;
};

/// Who sends, and which version, when.
struct SummaryEnvelope {
  std::string_view publisher;  ///< 1 to 255 bytes; std::invalid_argument otherwise
  SummaryVersion version;
  std::uint64_t digest = 0;  ///< of the version
  SummaryTime published_at{};
};

/// The bytes of messages. Each throws std::invalid_argument for a publisher's name out of range.
std::vector<std::byte> delta_message(const SummaryEnvelope& envelope, std::uint64_t from_sequence,
                                     const SummaryDelta& delta);
/// As words, or as changes from nothing where that is shorter by a sixteenth at least.
std::vector<std::byte> full_message(const SummaryEnvelope& envelope, const SummaryTable& table);
/// How long that is, without writing it.
std::uint64_t full_message_bytes(std::string_view publisher, const SummaryTable& table);
std::vector<std::byte> heartbeat_message(const SummaryEnvelope& envelope, const SummaryLayout& layout);
std::vector<std::byte> request_message(const SummaryEnvelope& envelope, const SummaryLayout& layout);

/// Brings a table and its digest to the message's version, by the digest alone: for copies in files, which know no
/// numbers of versions. False, and nothing has changed, if a delta does not lead from this table to that version. Throws
/// std::invalid_argument for a delta of another layout, and for a message that holds no units; std::bad_alloc.
bool patch(SummaryTable& table, std::uint64_t& digest, const SummaryMessage& message);

/// Of all units.
std::uint64_t digest_of(const SummaryTable& table) noexcept;

}  // namespace tally

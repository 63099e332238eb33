#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tally/export.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/table.hpp"

namespace tally {

/// A unit and its new value.
struct UnitChange {
  std::uint64_t unit = 0;
  std::uint32_t value = 0;

  friend bool operator==(const UnitChange&, const UnitChange&) = default;
};

/// What changed between two versions of a directory, in ascending order of units. Its message is about as
/// long as its entropy allows: distances are Golomb-Rice coded, a cell's new count is written in unary and
/// its remainder unchanged.
struct TALLY_EXPORT SummaryDelta {
  SummaryLayout layout;
  std::vector<UnitChange> changes;

  /// From `before` to `after`, which must have the same layout; throws std::invalid_argument otherwise.
  static SummaryDelta between(const SummaryTable& before, const SummaryTable& after);

  /// The size of the payload of its message.
  std::uint64_t num_bytes() const;
};

/// The sender, the version and the time.
struct SummaryEnvelope {
  std::string_view publisher;  ///< 1 to 255 bytes; std::invalid_argument otherwise
  SummaryVersion version;
  std::uint64_t digest = 0;  ///< of the version
  SummaryTime published_at{};
  const MessageKey* key = nullptr;  ///< signs the message; none: the message has no MAC
};

/// The bytes of messages. Each function throws std::invalid_argument for a publisher's name out of range.
TALLY_EXPORT std::vector<std::byte> delta_message(const SummaryEnvelope& envelope,
                                                  std::uint64_t from_sequence, const SummaryDelta& delta);
/// As words, or as changes from an empty table if that is shorter by at least a sixteenth.
TALLY_EXPORT std::vector<std::byte> full_message(const SummaryEnvelope& envelope, const SummaryTable& table);
/// The length of that message, without writing it.
TALLY_EXPORT std::uint64_t full_message_bytes(std::string_view publisher, const SummaryTable& table);
TALLY_EXPORT std::vector<std::byte> heartbeat_message(const SummaryEnvelope& envelope,
                                                      const SummaryLayout& layout);
/// Announces that a full copy of the version can be fetched.
TALLY_EXPORT std::vector<std::byte> stored_message(const SummaryEnvelope& envelope,
                                                   const SummaryLayout& layout);
TALLY_EXPORT std::vector<std::byte> request_message(const SummaryEnvelope& envelope,
                                                    const SummaryLayout& layout);

/// Brings a table and its digest to the message's version, using only the digest: for copies in files, which
/// have no version numbers. Returns false and changes nothing if a delta does not lead from this table to
/// that version. Throws std::invalid_argument for a delta of another layout and for a message without units;
/// std::bad_alloc.
TALLY_EXPORT bool patch(SummaryTable& table, std::uint64_t& digest, const SummaryMessage& message);

/// The digest of all units.
TALLY_EXPORT std::uint64_t digest_of(const SummaryTable& table) noexcept;

}  // namespace tally

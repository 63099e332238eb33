#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tally/detail/format_error.hpp"
#include "tally/export.hpp"
#include "tally/summaries/layout.hpp"
#include "tally/summaries/message_key.hpp"
#include "tally/summaries/version.hpp"

namespace tally {

/// What a message is for; messages contain these numbers, which are never reused.
enum class SummaryMessageKind : std::uint16_t {
  full = 1,       ///< all units of a version
  delta = 2,      ///< what changed between two versions
  heartbeat = 3,  ///< which version is the newest, and nothing else
  request = 4,  ///< asks a publisher for a full copy, and has the newest version that the sender has heard of
  stored = 5    ///< a full copy of this version can be fetched where the nodes keep them; format version 2
};

/// "full", "delta", "heartbeat", "request" or "stored".
TALLY_EXPORT std::string_view name_of(SummaryMessageKind kind) noexcept;

/// How a message codes its units; the numbers are never reused.
enum class SummaryCoding : std::uint8_t {
  none = 0,    ///< there are none
  words = 1,   ///< all units, as in memory
  changes = 2  ///< the changed units: Golomb-Rice coded distances, and for cells the new values
};

inline constexpr std::uint64_t summary_header_bytes = 128;
/// What is written; versions 1 and 2 are read.
inline constexpr std::uint16_t summary_format_version = 2;
inline constexpr std::size_t max_publisher_bytes = 255;

/// A checked message between nodes; it points into the bytes it was read from (docs/summaries.md).
struct TALLY_EXPORT SummaryMessage {
  std::uint16_t format_version = summary_format_version;
  SummaryMessageKind kind = SummaryMessageKind::heartbeat;
  std::string_view publisher;  ///< whose directory: 1 to 255 arbitrary bytes
  SummaryLayout layout;
  SummaryVersion version;           ///< after the message; request: the version that the sender holds
  std::uint64_t from_sequence = 0;  ///< delta: the version before, in the same epoch
  std::uint64_t digest = 0;         ///< of all units of the version (see unit_digest)
  SummaryTime published_at{};       ///< by the publisher's clock
  SummaryCoding coding = SummaryCoding::none;
  std::uint8_t rice_bits = 0;
  std::uint64_t num_changes = 0;  ///< units that are not 0 (full), or that changed (delta)
  std::span<const std::byte> payload;
  std::span<const std::byte> header;  ///< as it was read
  std::span<const std::byte> body;    ///< publisher and payload
  std::span<const std::byte> mac;     ///< empty, or that of header and body under the sender's key

  /// Whether it has the MAC of this key. Takes the same time whatever the MAC is.
  bool is_signed_with(const MessageKey& key) const noexcept;
};

/// The message's length, from its first 128 bytes, which are checked; for callers that read messages from a
/// pipe. Throws FormatError.
TALLY_EXPORT std::uint64_t summary_message_bytes(std::span<const std::byte> header);

/// The fields of a message's header, without its publisher and its units, which are not checked: for the messages that a program
/// has made or read itself, because reading all units of a full copy takes milliseconds. Throws FormatError.
TALLY_EXPORT SummaryMessage read_summary_header(std::span<const std::byte> bytes);

/// Reads and checks a whole message, including its units, without allocating anything. The time is linear in
/// the number of bytes. Throws FormatError.
TALLY_EXPORT SummaryMessage read_summary_message(std::span<const std::byte> bytes);

/// The same message in format version 1 and without MAC, for readers that know no other; empty if version 1 has no such
/// kind. `message` is valid. Throws FormatError if its header is not, and std::bad_alloc.
TALLY_EXPORT std::vector<std::byte> in_format_version_1(std::span<const std::byte> message);

/// What a unit contributes to the digest of a version. The digest is the XOR over all units that are not 0,
/// so a change costs one step, and every replica can check that it equals the publisher's version. It does
/// not protect against forgery.
TALLY_EXPORT std::uint64_t unit_digest(std::uint64_t unit, std::uint32_t value) noexcept;

}  // namespace tally

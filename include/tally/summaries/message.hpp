#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tally/detail/format_error.hpp"
#include "tally/summaries/layout.hpp"
#include "tally/summaries/version.hpp"

namespace tally {

/// What a message is for; the numbers stand in messages and are never reused.
enum class SummaryMessageKind : std::uint16_t {
  full = 1,       ///< all units of a version
  delta = 2,      ///< what changed between two versions
  heartbeat = 3,  ///< which version is the newest, and nothing else
  request = 4     ///< asks a publisher for a full copy, and says which version the asker holds
};

/// "full", "delta", "heartbeat" or "request".
std::string_view name_of(SummaryMessageKind kind) noexcept;

/// How units stand in a message; the numbers are never reused.
enum class SummaryCoding : std::uint8_t {
  none = 0,    ///< there are none
  words = 1,   ///< all of them, as in memory
  changes = 2  ///< the changed ones: Golomb-Rice coded distances, and of cells the new values
};

inline constexpr std::uint64_t summary_header_bytes = 128;
inline constexpr std::size_t max_publisher_bytes = 255;

/// A message between nodes, checked; it points into the bytes it was read from (docs/summaries.md).
struct SummaryMessage {
  SummaryMessageKind kind = SummaryMessageKind::heartbeat;
  std::string_view publisher;  ///< whose directory: 1 to 255 bytes, any
  SummaryLayout layout;
  SummaryVersion version;           ///< after the message; of a request: what the asker holds
  std::uint64_t from_sequence = 0;  ///< of a delta: the version before, of the same epoch
  std::uint64_t digest = 0;         ///< of all units of the version (see unit_digest)
  SummaryTime published_at{};       ///< by the publisher's clock
  SummaryCoding coding = SummaryCoding::none;
  std::uint8_t rice_bits = 0;
  std::uint64_t num_changes = 0;  ///< units that are not 0 (full), or that changed (delta)
  std::span<const std::byte> payload;
};

/// The message's length, from its first 128 bytes, which are checked: for those who read messages from a pipe.
/// Throws FormatError.
std::uint64_t summary_message_bytes(std::span<const std::byte> header);

/// Reads and checks a whole message, its units too, without allocating anything. Time is linear in the
/// bytes. Throws FormatError.
SummaryMessage read_summary_message(std::span<const std::byte> bytes);

/// What a unit adds to the digest of a version: the digest is the XOR over all units that are not 0, so that a change
/// costs one step and every replica can check that it is what the publisher has. Not against forgers.
std::uint64_t unit_digest(std::uint64_t unit, std::uint32_t value) noexcept;

}  // namespace tally

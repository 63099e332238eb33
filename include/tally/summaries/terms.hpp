#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "tally/export.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/summaries/layout.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/message_key.hpp"

namespace tally {

/// What a follower of summaries accepts: the hash of its own keys, and limits on memory.
struct SummaryTerms {
  KeyHasher hasher{0};
  std::uint16_t bits_scheme_id = DefaultScheme::file_id;
  std::uint16_t cells_scheme_id = RotationBuckets::file_id;
  std::uint32_t max_num_hashes = 64;                            ///< 1 to 1024
  std::uint64_t max_bytes_per_peer = std::uint64_t{256} << 20;  ///< units of one copy
  std::uint64_t max_total_bytes = std::uint64_t{16} << 30;      ///< of a SummarySet
  std::uint32_t max_peers = 10'000;                             ///< of a SummarySet
  /// With a key, messages must be signed with it, and requests are. Without one, anybody who can send a message can speak for
  /// every publisher.
  std::optional<MessageKey> key = {};
  /// Takes messages of format version 1, which have no MAC, in spite of the key: while a group is upgraded.
  bool takes_unsigned = false;
};

/// What signs the messages of who has these terms; null without a key.
inline const MessageKey* signing_key(const SummaryTerms& terms) noexcept {
  return terms.key ? &*terms.key : nullptr;
}

/// A message that is not signed with the key of the terms.
struct NotAuthentic : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A publisher that does not fit: max_peers or max_total_bytes of the terms is reached.
struct NoRoomForPeer : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Throws NotAuthentic, which names the publisher.
TALLY_EXPORT void require_authentic(const SummaryTerms& terms, const SummaryMessage& message);

/// Throws std::invalid_argument that names the publisher and the first of hash, seed or key id, scheme,
/// num_hashes and number of bytes that the terms do not allow.
TALLY_EXPORT void require_terms(const SummaryTerms& terms, const SummaryLayout& layout,
                                std::string_view publisher);

}  // namespace tally

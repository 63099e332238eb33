#pragma once

#include <cstdint>
#include <string_view>

#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/summaries/layout.hpp"

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
};

/// Throws std::invalid_argument that names the publisher and the first of hash, seed or key id, scheme,
/// num_hashes and number of bytes that the terms do not allow.
void require_terms(const SummaryTerms& terms, const SummaryLayout& layout, std::string_view publisher);

}  // namespace tally

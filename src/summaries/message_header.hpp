#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/little_endian.hpp"
#include "tally/hashing/hash128.hpp"

// Where the fields of a message's header are; docs/summaries.md has the same table.

namespace tally::detail::message {

inline constexpr std::array<unsigned char, 8> magic = {0x89, 'T', 'S', 'U', 'M', '\r', '\n', 0x1a};
inline constexpr std::uint16_t first_version = 1;
inline constexpr std::uint16_t version = 2;

inline constexpr std::size_t magic_at = 0;
inline constexpr std::size_t version_at = 8;
inline constexpr std::size_t kind_at = 10;
inline constexpr std::size_t hash_id_at = 12;
inline constexpr std::size_t scheme_id_at = 14;
inline constexpr std::size_t seed_at = 16;
inline constexpr std::size_t epoch_at = 24;
inline constexpr std::size_t sequence_at = 32;
inline constexpr std::size_t from_sequence_at = 40;
inline constexpr std::size_t digest_at = 48;
inline constexpr std::size_t published_at_at = 56;
inline constexpr std::size_t num_positions_at = 64;
inline constexpr std::size_t num_hashes_at = 72;
inline constexpr std::size_t has_cells_at = 76;
inline constexpr std::size_t counter_bits_at = 77;
inline constexpr std::size_t cells_per_bucket_at = 78;
inline constexpr std::size_t remainder_bits_at = 79;
inline constexpr std::size_t least_remainder_bits_at = 80;
inline constexpr std::size_t num_doublings_at = 81;
inline constexpr std::size_t coding_at = 82;
inline constexpr std::size_t rice_bits_at = 83;
inline constexpr std::size_t publisher_bytes_at = 84;
inline constexpr std::size_t mac_bytes_at = 85;  // from version 2 on
inline constexpr std::size_t reserved_at = 86;
inline constexpr std::size_t num_changes_at = 88;
inline constexpr std::size_t payload_bytes_at = 96;
inline constexpr std::size_t reserved_too_at = 104;
inline constexpr std::size_t body_checksum_at = 112;
inline constexpr std::size_t header_checksum_at = 120;

inline constexpr std::uint8_t mac_bytes = 16;

/// XXH3-64 with seed 0.
inline std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

/// Writes both checksums into a message that is complete without them.
inline void seal(std::span<std::byte> message) noexcept {
  store_little_endian(message.data() + body_checksum_at, checksum(message.subspan(header_checksum_at + 8)));
  store_little_endian(message.data() + header_checksum_at, checksum(message.first(header_checksum_at)));
}

}  // namespace tally::detail::message

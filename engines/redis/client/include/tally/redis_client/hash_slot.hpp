#pragma once

#include <cstdint>
#include <string_view>

namespace tally::redis_client {

inline constexpr std::uint32_t num_hash_slots = 16384;

/// The slot of a key in Redis Cluster: CRC-16 (polynomial 0x1021) modulo 16384 of what is between the first '{' and the next
/// '}', or of the whole key if there is nothing between them.
/// @source the Redis Cluster specification, 'Hash tags'
std::uint32_t hash_slot(std::string_view key) noexcept;

}  // namespace tally::redis_client

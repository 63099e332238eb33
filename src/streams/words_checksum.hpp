#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/hashing/hash128.hpp"

namespace tally::detail {

/// Of the words of a part of a state in pieces.
inline std::uint64_t words_checksum(std::span<const std::byte> bytes) { return hash_key(bytes, 0).low; }

}  // namespace tally::detail

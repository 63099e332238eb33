#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tally/hashing/key_hasher.hpp"

namespace tally::redis {

/// Parameters in the header of a dump: 8 little-endian bytes each.
inline void append_parameter(std::string& bytes, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> 8 * i & 0xff));
}

/// Reads the first parameter and removes it; there is one.
inline std::uint64_t take_parameter(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  bytes.remove_prefix(8);
  return value;
}

/// Of the header of a dump; its parameters have no other protection.
inline std::uint64_t checksum_of(std::string_view bytes) { return KeyHasher(0)(bytes).low; }

}  // namespace tally::redis

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "input/key_type.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {

/// Nothing if the text is not of the key type.
inline std::optional<Hash128> digest_of_key(const KeyHasher& hasher, KeyType type, std::string_view key) {
  if (type == KeyType::text) return hasher(key);
  std::uint64_t bits = 0;
  if (!parse_key(type, key, bits)) return std::nullopt;
  return hasher(bits);
}

}  // namespace tally::cli

#pragma once

#include <highwayhash/highwayhash_target.h>
#include <highwayhash/instruction_sets.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/little_endian.hpp"
#include "tally/hashing/key_hasher.hpp"

// HighwayHash, for the hash of keys and for the MAC of messages. Two source files include this, so that programs that use
// neither do not link it.

namespace tally::detail {

using HighwayKey = std::array<std::uint64_t, 4>;

inline HighwayKey highway_key(const HashKey& secret) noexcept {
  HighwayKey words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = load_little_endian<std::uint64_t>(secret.data() + 8 * i);
  }
  return words;
}

/// `Result` is a HHResult128 or HHResult256.
template <class Result>
void highway_hash(const HighwayKey& key, std::span<const std::byte> bytes, Result& result) noexcept {
  const highwayhash::HHKey words = {key[0], key[1], key[2], key[3]};
  highwayhash::InstructionSets::Run<highwayhash::HighwayHash>(
      words, reinterpret_cast<const char*>(bytes.data()), bytes.size(), &result);
}

}  // namespace tally::detail

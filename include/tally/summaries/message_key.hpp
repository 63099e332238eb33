#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tally/export.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally {

/// What proves that a message was written by somebody who has the group's secret: 128 bits.
using MessageMac = std::array<std::byte, 16>;

/// Signs and checks messages: a HighwayHash-128 under a key that is derived from the secret of the keyed hash
/// (KeyHasher::keyed), so that one secret serves both and neither use reveals anything of the other.
/// Immutable; any number of threads may share one.
class TALLY_EXPORT MessageKey {
 public:
  /// `group`: whose messages they are, for several groups that share a secret.
  explicit MessageKey(const HashKey& secret, std::string_view group = {});

  /// Of a message in two parts: the part of the header before its checksums, and what follows the header.
  MessageMac mac(std::span<const std::byte> header, std::span<const std::byte> body) const noexcept;

  friend bool operator==(const MessageKey&, const MessageKey&) = default;

 private:
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace tally

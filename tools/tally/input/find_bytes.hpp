#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::cli {

struct FoundBytes {
  std::size_t num_found;
  std::size_t num_scanned;  ///< there is no further `wanted` below this offset
};

/// Writes the offsets of the bytes equal to `wanted`, in order, until `offsets` could be full; it has
/// room for at least 64. `bytes` is shorter than 4 GiB.
FoundBytes find_bytes(std::span<const char> bytes, char wanted, std::span<std::uint32_t> offsets) noexcept;

}  // namespace tally::cli

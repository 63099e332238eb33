#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally {

/// The size of a Squid cache digest. The number of bits follows from it, in whole bytes.
struct SquidShape {
  static constexpr std::uint32_t num_hashes = 4;
  /// The maximum of a signed byte: Squid 5.7 crashes when a peer sends more.
  static constexpr std::uint32_t max_bits_per_entry = 127;
  /// Squid counts bits in a signed 32-bit number.
  static constexpr std::uint64_t max_num_bits = (std::uint64_t{1} << 31) - 8;

  std::uint64_t capacity = 0;        ///< objects; 1 to max_num_bits / bits_per_entry
  std::uint32_t bits_per_entry = 5;  ///< 1 to max_bits_per_entry; Squid's default is 5

  constexpr std::uint64_t num_bytes() const noexcept { return (capacity * bits_per_entry + 7) / 8; }
  constexpr std::uint64_t num_bits() const noexcept { return 8 * num_bytes(); }

  friend bool operator==(const SquidShape&, const SquidShape&) = default;
};

/// Throws std::invalid_argument that names the field out of range.
TALLY_EXPORT void check_shape(const SquidShape& shape);

/// The probability that a key which is not in it passes a digest with `num_keys` objects: (1 - (1 - 1/m)^(4
/// n))^4, m = num_bits(). The four positions are four disjoint words of one MD5, so they are practically
/// independent. The only loss is that 2^32 may not be a multiple of m, a relative error of the order of (m /
/// 2^32)^2. At capacity and 5 bits per entry the probability is 9.2%.
/// Source: Fan, Cao, Almeida, Broder 2000 (Summary Cache).
TALLY_EXPORT double planned_false_positive_rate(const SquidShape& shape, std::uint64_t num_keys);

}  // namespace tally

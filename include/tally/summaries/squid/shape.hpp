#pragma once

#include <cstdint>

namespace tally {

/// What a Squid cache digest is planned for. The number of bits follows, in whole bytes.
struct SquidShape {
  static constexpr std::uint32_t num_hashes = 4;
  /// Of a signed byte: a Squid 5.7 ends itself when a peer sends more.
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
void check_shape(const SquidShape& shape);

/// The probability that an object which is not in it passes a digest with `num_keys` objects:
/// (1 - (1 - 1/m)^(4 n))^4, m = num_bits(). The four positions are four disjoint words of one MD5, so they
/// are as good as independent; what is lost is that 2^32 may be no multiple of m, a relative error of the
/// order of (m / 2^32)^2. At capacity and 5 bits an entry it is 9.2%.
/// Source: Fan, Cao, Almeida, Broder 2000 (Summary Cache).
double planned_false_positive_rate(const SquidShape& shape, std::uint64_t num_keys);

}  // namespace tally

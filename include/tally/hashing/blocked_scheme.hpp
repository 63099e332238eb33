#pragma once

#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// All k positions of a key in one 64-byte line: one cache miss per key, for a false positive rate above that
/// of the standard filter, because lines fill unevenly (the Poisson mixture in theory/blocked_bloom.hpp). The
/// digest's low half chooses the line. The positions in it, which may repeat, come from slices of words:
/// first of the high half, then of mixes of the digest. Slices of 9 bits are uniform on a line of 512
/// positions. On a line of another size, slices of 16 bits are uniform up to size / 2^16 of a probability.
/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters".
class BlockedScheme {
 public:
  static constexpr std::string_view name = "blocked";
  static constexpr std::uint16_t file_id = 2;
  static constexpr PositionLayout layout = PositionLayout::lines;
  static constexpr PositionLaw law = PositionLaw::lines;

  /// A whole number of lines.
  static std::uint64_t round_positions(PositionSpace space, Rounding rounding) noexcept {
    const std::uint64_t rest = space.num_positions % space.positions_per_line;
    if (rest == 0) return space.num_positions;
    return space.num_positions - rest + (rounding == Rounding::up ? space.positions_per_line : 0);
  }

  explicit BlockedScheme(PositionSpace space) noexcept
      : num_lines_(space.num_positions / space.positions_per_line),
        positions_per_line_(space.positions_per_line),
        num_hashes_(space.num_hashes) {}

  /// The first position of the key's line.
  std::uint64_t first_of_line(Hash128 hash) const noexcept {
    return reduce_to_range(hash.low, num_lines_) * positions_per_line_;
  }

  template <class Visit>
  bool all_positions(Hash128 hash, Visit visit) const noexcept {
    const std::uint64_t first = first_of_line(hash);
    return positions_per_line_ == 512 ? visit_slices<9>(hash, first, 512, visit)
                                      : visit_slices<16>(hash, first, positions_per_line_, visit);
  }

 private:
  template <std::uint32_t slice_bits, class Visit>
  bool visit_slices(Hash128 hash, std::uint64_t first, std::uint64_t line_size, Visit visit) const noexcept {
    constexpr std::uint32_t slices_per_word = 64 / slice_bits;
    constexpr std::uint64_t mask = (std::uint64_t{1} << slice_bits) - 1;
    std::uint64_t word = hash.high;
    for (std::uint32_t left = num_hashes_;; left -= slices_per_word) {
      const std::uint32_t num_slices = left < slices_per_word ? left : slices_per_word;
      for (std::uint32_t i = 0; i < num_slices; ++i) {
        if (!visit(first + ((word >> (slice_bits * i) & mask) * line_size >> slice_bits))) return false;
      }
      if (left <= slices_per_word) return true;
      word = mix64(word + hash.low);
    }
  }

  std::uint64_t num_lines_;
  std::uint64_t positions_per_line_;
  std::uint32_t num_hashes_;
};

}  // namespace tally

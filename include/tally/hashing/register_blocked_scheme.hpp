#pragma once

#include "tally/hashing/blocked_scheme.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// All k positions of a key in one 64-byte line, the same number of them in each of its eight 64-bit words: position i in
/// word i mod 8. So vector registers hold a line and the key's bits, and one key takes a handful of instructions. Its
/// memory is least where the best k is near a multiple of 8 (theory/register_bloom.hpp).
///
/// The digest's low half chooses the line. Each word draws its positions, 8 slices at a time, from the digest's high half
/// and then from mixes of the digest. Slices of 6 bits are uniform on words of 64 positions. Words of other numbers of
/// positions take slices of 16 bits, which are uniform up to size / 2^16 of a probability, 4 from each mix.
class RegisterBlockedScheme {
 public:
  static constexpr std::string_view name = "register-blocked";
  static constexpr std::uint16_t file_id = 10;
  static constexpr PositionLayout layout = PositionLayout::words;
  static constexpr PositionLaw law = PositionLaw::words;
  static constexpr std::uint32_t num_hashes_step = 8;
  static constexpr std::uint32_t words_per_line = num_hashes_step;

  /// A whole number of lines.
  static std::uint64_t round_positions(PositionSpace space, Rounding rounding) noexcept {
    return BlockedScheme::round_positions(space, rounding);
  }

  explicit RegisterBlockedScheme(PositionSpace space) noexcept
      : num_lines_(space.num_positions / space.positions_per_line),
        positions_per_word_(space.positions_per_line / words_per_line),
        num_hashes_(space.num_hashes) {}

  /// The line of a key, below the number of lines.
  std::uint64_t line(Hash128 hash) const noexcept { return reduce_to_range(hash.low, num_lines_); }

  /// The first position of the key's line.
  std::uint64_t first_of_line(Hash128 hash) const noexcept {
    return line(hash) * words_per_line * positions_per_word_;
  }

  template <class Visit>
  bool all_positions(Hash128 hash, Visit visit) const noexcept {
    const std::uint64_t first = first_of_line(hash);
    return positions_per_word_ == 64 ? visit_slices<6, 8>(hash, first, 64, visit)
                                     : visit_slices<16, 4>(hash, first, positions_per_word_, visit);
  }

 private:
  template <std::uint32_t slice_bits, std::uint32_t slices_per_draw, class Visit>
  bool visit_slices(Hash128 hash, std::uint64_t first, std::uint64_t word_size, Visit visit) const noexcept {
    constexpr std::uint64_t mask = (std::uint64_t{1} << slice_bits) - 1;
    std::uint64_t draw = hash.high;
    for (std::uint32_t i = 0;;) {
      for (std::uint32_t slice = 0; slice < slices_per_draw; ++slice) {
        const std::uint64_t place = (draw >> (slice_bits * slice) & mask) * word_size >> slice_bits;
        if (!visit(first + (i + slice) % words_per_line * word_size + place)) return false;
      }
      i += slices_per_draw;
      if (i >= num_hashes_) return true;
      draw = mix64(draw + hash.low);
    }
  }

  std::uint64_t num_lines_;
  std::uint64_t positions_per_word_;
  std::uint32_t num_hashes_;
};

}  // namespace tally

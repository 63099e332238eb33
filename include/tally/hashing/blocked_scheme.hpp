#pragma once

#include "tally/hashing/congruential_scheme.hpp"

namespace tally {

/// All k positions of a key in one 64-byte line: one cache miss a key, for a false
/// positive rate above that of the standard filter, because lines fill unevenly
/// (the Poisson mixture in theory/blocked_bloom.hpp). The line is drawn from the
/// digest's low half; the positions in it, which may repeat, from a
/// CongruentialSequence that starts at the high half.
/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters".
class BlockedScheme {
 public:
  static constexpr std::string_view name = "blocked";
  static constexpr std::uint16_t file_id = 2;
  static constexpr PositionLayout layout = PositionLayout::lines;

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
    CongruentialSequence sequence(hash.high, hash.low);
    for (std::uint32_t i = 0; i < num_hashes_; ++i) {
      if (!visit(first + reduce_to_range(sequence.next(), positions_per_line_))) return false;
    }
    return true;
  }

 private:
  std::uint64_t num_lines_;
  std::uint64_t positions_per_line_;
  std::uint32_t num_hashes_;
};

}  // namespace tally

#pragma once

#include <cstdint>

#include "tally/detail/compact/layout.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"
#include "tally/hashing/rotation_buckets.hpp"

namespace tally::detail {

/// Where a fingerprint may be: its two lines, and what they would hold.
struct CompactSpot {
  unsigned char* left;
  unsigned char* right;
  std::uint64_t in_line;  // mini-bucket << remainder_bits | remainder
};

/// Finds the spots of keys.
///
/// A fingerprint is line << in_line_bits | in_line. Its line in the left subtable is `line`, and in the right one
/// that of a permutation (RotationBuckets), with the same `in_line` in both. So from either line comes one fingerprint,
/// and a fingerprint's cells in a line are those of no other.
class CompactFinder {
 public:
  CompactFinder(std::uint64_t num_lines_per_subtable, std::uint32_t remainder_bits,
                std::uint64_t seed) noexcept
      : num_lines_(num_lines_per_subtable),
        in_line_bits_(CompactLayout::in_line_bits(remainder_bits)),
        scheme_({num_lines_per_subtable, in_line_bits_, in_line_bits_}, seed) {}

  /// The lines of both subtables, left first.
  void set_lines(std::uint64_t* words) noexcept { lines_ = reinterpret_cast<unsigned char*>(words); }

  /// Uniform over all fingerprints, up to 2^-22.
  template <class Layout>
  CompactSpot spot_of(Hash128 hash, Layout layout) const noexcept {
    const std::uint64_t line = reduce_to_range(hash.low, num_lines_);
    const std::uint64_t mini_bucket = reduce_to_range(hash.high, layout.num_mini_buckets);
    const std::uint64_t remainder = hash.high & ((std::uint64_t{1} << layout.remainder_bits) - 1);
    return spot(line, mini_bucket << layout.remainder_bits | remainder);
  }
  CompactSpot spot_of_fingerprint(std::uint64_t fingerprint) const noexcept {
    return spot(fingerprint >> in_line_bits_, fingerprint & ((std::uint64_t{1} << in_line_bits_) - 1));
  }

  /// Counted through both subtables.
  std::uint64_t right_line_of(std::uint64_t fingerprint) const noexcept {
    const std::uint64_t in_line = fingerprint & ((std::uint64_t{1} << in_line_bits_) - 1);
    return num_lines_ + scheme_.bucket(1, fingerprint >> in_line_bits_, in_line);
  }

  std::uint64_t fingerprint_of(const CompactSpot& spot) const noexcept {
    return line_of(spot.left) << in_line_bits_ | spot.in_line;
  }
  /// The fingerprint of a value in the line with this index among the lines of both subtables.
  std::uint64_t fingerprint_at(std::uint64_t line, std::uint64_t in_line) const noexcept {
    if (line < num_lines_) return line << in_line_bits_ | in_line;
    return scheme_.fingerprint(1, (line - num_lines_) << in_line_bits_ | in_line);
  }

  std::uint64_t line_of(const unsigned char* line) const noexcept {
    return static_cast<std::uint64_t>(line - lines_) / compact_line_bytes;
  }

 private:
  CompactSpot spot(std::uint64_t line, std::uint64_t in_line) const noexcept {
    const std::uint64_t right = num_lines_ + scheme_.bucket(1, line, in_line);
    return {lines_ + line * compact_line_bytes, lines_ + right * compact_line_bytes, in_line};
  }

  std::uint64_t num_lines_;  // per subtable
  std::uint32_t in_line_bits_;
  RotationBuckets scheme_;
  unsigned char* lines_ = nullptr;
};

}  // namespace tally::detail

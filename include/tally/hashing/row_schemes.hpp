#pragma once

#include <array>
#include <vector>

#include "tally/export.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "tally/hashing/range_reduction.hpp"
#include "tally/hashing/row_scheme.hpp"

namespace tally {

/// The common part of the schemes with independent rows: any width, and copies that are simply more rows.
class AnyWidthRows {
 public:
  static constexpr RowLaw law = RowLaw::independent;
  static std::uint64_t round_width(std::uint64_t width, Rounding) noexcept { return width; }

 protected:
  explicit AnyWidthRows(const RowSpace& space) noexcept : width_(space.width), num_rows_(space.num_rows()) {}

  std::uint64_t width_;
  std::uint32_t num_rows_;
};

/// The production default: row i is the i-th state of the key's own CongruentialSequence.
///
/// One multiplication and one addition per row, no division, any width, and no degenerate pair of hash
/// values. Over random digests, two rows of a key are independent up to 2^-50, so two keys collide in two
/// given rows no more often than with independent hashes. Three and more rows are not proved to be
/// independent; measurements agree with independence (tests/statistical/count_min_test.cpp).
class CongruentialRows : public AnyWidthRows {
 public:
  static constexpr std::string_view name = "congruential";
  static constexpr std::uint16_t file_id = 32;

  explicit CongruentialRows(const RowSpace& space) noexcept : AnyWidthRows(space) {}

  template <class Visit>
  void for_each_row(Hash128 hash, Visit visit) const noexcept {
    CongruentialSequence sequence(hash.low, hash.high);
    // Copies, because as far as the compiler knows, `visit` could write to this object.
    const std::uint64_t width = width_;
    const std::uint32_t num_rows = num_rows_;
    for (std::uint32_t row = 0; row < num_rows; ++row) visit(row, reduce_to_range(sequence.next(), width));
  }
};

/// The classic sketch with strong hashes: each row is a different mix of the whole digest.
class IndependentRows : public AnyWidthRows {
 public:
  static constexpr std::string_view name = "independent";
  static constexpr std::uint16_t file_id = 33;

  explicit IndependentRows(const RowSpace& space) noexcept : AnyWidthRows(space) {}

  template <class Visit>
  void for_each_row(Hash128 hash, Visit visit) const noexcept {
    for (std::uint32_t row = 0; row < num_rows_; ++row) {
      visit(row, reduce_to_range(independent_hash(hash, row), width_));
    }
  }
};

/// The classic sketch with exactly what its theorem requires: in row i the high half of
///
///     a_i low + b_i high + c_i   mod 2^128
///
/// with 128-bit a_i, b_i, c_i drawn from the seed. Over random coefficients this is pairwise independent,
/// whatever the digests; the reduction to [0, width) is off by at most width / 2^64 of a probability.
/// Source: Dietzfelbinger 1996, "Universal hashing and k-wise independent random variables via integer
/// arithmetic without primes".
class PairwiseRows : public AnyWidthRows {
 public:
  static constexpr std::string_view name = "pairwise";
  static constexpr std::uint16_t file_id = 34;

  explicit PairwiseRows(const RowSpace& space) : AnyWidthRows(space), coefficients_(num_rows_) {
    std::uint32_t drawn = 0;
    const auto draw = [&] { return independent_hash({space.seed, 0}, drawn++); };
    for (auto& row : coefficients_) {
      for (Wide& coefficient : row) {
        const Wide high = draw();
        coefficient = high << 64 | draw();
      }
    }
  }

  template <class Visit>
  void for_each_row(Hash128 hash, Visit visit) const noexcept {
    for (std::uint32_t row = 0; row < num_rows_; ++row) {
      const auto& [a, b, c] = coefficients_[row];
      const auto value = static_cast<std::uint64_t>((a * hash.low + b * hash.high + c) >> 64);
      visit(row, reduce_to_range(value, width_));
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::vector<std::array<Wide, 3>> coefficients_;
};

/// The sketch of Theorem 9.1: in row j of a copy h1 + j h2 mod width, width prime and at least the depth. The
/// first copy uses the digest's halves for h1 and h2; each other copy uses a fresh pair mixed from the
/// digest. Known cost: keys that agree in a copy's h1 and h2, with probability 1 / width^2 per pair, agree in
/// all its rows.
/// Source: Kirsch and Mitzenmacher 2008, section 9.2.
class TALLY_EXPORT TwoHashRows {
 public:
  static constexpr std::string_view name = "two-hash";
  static constexpr std::uint16_t file_id = 35;
  static constexpr RowLaw law = RowLaw::two_hash;

  /// A prime.
  static std::uint64_t round_width(std::uint64_t width, Rounding rounding);

  explicit TwoHashRows(const RowSpace& space) noexcept
      : width_(space.width), depth_(space.depth), num_copies_(space.num_copies) {}

  template <class Visit>
  void for_each_row(Hash128 hash, Visit visit) const noexcept {
    Hash128 pair = hash;
    for (std::uint32_t copy = 0, row = 0; copy < num_copies_; ++copy) {
      std::uint64_t column = reduce_to_range(pair.low, width_);
      const std::uint64_t step = reduce_to_range(pair.high, width_);
      for (std::uint32_t j = 0; j < depth_; ++j, ++row) {
        visit(row, column);
        column += step;
        if (column >= width_) column -= width_;
      }
      pair = {independent_hash(hash, 2 * copy), independent_hash(hash, 2 * copy + 1)};
    }
  }

 private:
  std::uint64_t width_;
  std::uint32_t depth_;
  std::uint32_t num_copies_;
};

using DefaultRows = CongruentialRows;

}  // namespace tally

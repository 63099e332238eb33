#pragma once

#include <cstdint>
#include <string_view>

#include "tally/filters/outcomes.hpp"
#include "tally/filters/shapes.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/hashing/row_scheme.hpp"
#include "tally/sketches/count_estimate.hpp"

namespace tally {

/// Size of a CountMinSketch. At most 2^56 counters and 1024 rows in all.
struct CountMinShape {
  std::uint64_t width = 0;          ///< w: counters a row, from 1 on; what the row scheme can use
  std::uint32_t depth = 0;          ///< rows of one copy; with two-hash rows at most the width
  std::uint32_t num_copies = 1;     ///< more than 1 only with two-hash rows
  std::uint32_t counter_bits = 64;  ///< 8, 16, 32 or 64
  CounterUpdate update = CounterUpdate::plain;

  constexpr std::uint32_t num_rows() const noexcept { return depth * num_copies; }
  constexpr std::uint64_t num_counters() const noexcept { return width * num_rows(); }

  friend bool operator==(const CountMinShape&, const CountMinShape&) = default;
};

/// Bytes of memory that a shape takes.
std::uint64_t num_bytes(const CountMinShape& shape) noexcept;

/// Pr(estimate > truth + epsilon total_count) <= failure_probability.
struct CountMinBound {
  double epsilon = 1;
  double failure_probability = 0;
};

/// The bound at the epsilon of the theorems: e / width and exp(-rows) for independent rows; for two-hash
/// rows 2 e / width and Theorem 9.1. Any other epsilon: theory/count_min.hpp.
CountMinBound bound_of(const CountMinShape& shape, RowLaw law);

namespace detail {

void check_count_min_shape(const CountMinShape& shape, std::string_view scheme, RowLaw law,
                           std::uint64_t usable_below, std::uint64_t usable_above);

/// floor(epsilon a b), a little above rather than below; the largest 64-bit value where it does not fit.
std::uint64_t share_of(double epsilon, std::uint64_t a, std::uint64_t b = 1) noexcept;

/// The estimate of a count whose counters say `count`, in a sketch of sum `total`. `rounding` is what
/// halvings may have added to a counter.
CountEstimate estimate_of(Count count, CountMinBound bound, std::uint64_t total,
                          std::uint64_t rounding) noexcept;

/// Its insertions are the sum of all weights. A row is one hash function with a part of the counters to itself, so
/// the number of keys follows from the counters that are 0; a key never added passes where all of its own are not.
FilterStatistics count_min_statistics(const CountMinShape& shape, const CounterArray& counters,
                                      std::uint64_t total_count);

}  // namespace detail

/// Throws std::invalid_argument for a shape that is out of range, or that the scheme cannot use.
template <RowScheme Rows>
void check_shape(const CountMinShape& shape) {
  const bool can_round = shape.width >= 1 && shape.width <= max_num_positions;
  detail::check_count_min_shape(shape, Rows::name, Rows::law,
                                can_round ? Rows::round_width(shape.width, Rounding::down) : 0,
                                can_round ? Rows::round_width(shape.width, Rounding::up) : 0);
}

}  // namespace tally

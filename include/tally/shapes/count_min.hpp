#pragma once

#include <cstdint>
#include <string_view>

#include "tally/export.hpp"
#include "tally/hashing/row_scheme.hpp"
#include "tally/shapes/counter_update.hpp"

namespace tally {

/// The size of a CountMinSketch. At most 2^56 counters and 1024 rows in total.
struct CountMinShape {
  std::uint64_t width = 0;          ///< w: counters per row, at least 1; what the row scheme can use
  std::uint32_t depth = 0;          ///< rows of one copy; with two-hash rows at most the width
  std::uint32_t num_copies = 1;     ///< more than 1 only with two-hash rows
  std::uint32_t counter_bits = 64;  ///< 8, 16, 32 or 64
  CounterUpdate update = CounterUpdate::plain;

  constexpr std::uint32_t num_rows() const noexcept { return depth * num_copies; }
  constexpr std::uint64_t num_counters() const noexcept { return width * num_rows(); }

  friend bool operator==(const CountMinShape&, const CountMinShape&) = default;
};

/// Bytes of memory that a shape takes.
TALLY_EXPORT std::uint64_t num_bytes(const CountMinShape& shape) noexcept;

namespace detail {

TALLY_EXPORT void check_count_min_shape(const CountMinShape& shape, std::string_view scheme, RowLaw law,
                                        std::uint64_t usable_below, std::uint64_t usable_above);

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

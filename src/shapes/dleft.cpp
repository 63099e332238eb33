#include "tally/shapes/dleft.hpp"

#include <string>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/storage/cell_table.hpp"

namespace tally {
namespace {

constexpr std::string_view structure = "DLeftCountingBloomFilter";
constexpr std::uint64_t max_fingerprints = std::uint64_t{1} << 62;

}  // namespace

std::string_view name_of(DLeftMoves moves) noexcept {
  switch (moves) {
    case DLeftMoves::none:
      return "none";
    case DLeftMoves::first_subtable:
      return "first-subtable";
    case DLeftMoves::search:
      return "search";
  }
  return "unknown";
}

std::uint64_t num_bytes(const DLeftShape& shape) noexcept {
  return 8 * (CellTable::num_words(shape.num_cells(), shape.cell_bits()) +
              2 * num_spill_slots(shape.spill_capacity));
}

void check_shape(const DLeftShape& shape) {
  const auto check = [](std::string_view field, auto value, auto low, auto high) {
    detail::require_in_range<std::uint64_t>(structure, field, value, low, high);
  };
  check("num_subtables", shape.num_subtables, 1u, max_num_subtables);
  check("buckets_per_subtable", shape.buckets_per_subtable, 1u, max_num_buckets);
  check("cells_per_bucket", shape.cells_per_bucket, 1u, CellTable::max_cells_per_bucket);
  check("remainder_bits", shape.remainder_bits, 1u, max_remainder_bits);
  if (shape.buckets_per_subtable > max_fingerprints >> shape.remainder_bits) {
    detail::throw_parameter_error(
        structure, "buckets_per_subtable", shape.buckets_per_subtable,
        "at most 2^62 / 2^remainder_bits, remainder_bits being " + std::to_string(shape.remainder_bits));
  }
  check("counter_bits", shape.counter_bits, 0u, max_dleft_counter_bits);
  if (!CellTable::is_width(shape.cell_bits())) {
    detail::throw_parameter_error(structure, "remainder_bits + counter_bits", shape.cell_bits(),
                                  "8, 12, 16, 24 or 32");
  }
  check("least_remainder_bits", shape.least_remainder_bits, 1u, shape.remainder_bits);
  check("num_doublings", shape.num_doublings, 0u, shape.remainder_bits - shape.least_remainder_bits);
  check("current buckets_per_subtable", shape.current_buckets_per_subtable(), 1u, max_num_buckets);
  check("spill_capacity", shape.spill_capacity, 0u, max_spill_capacity);
  check("moves", static_cast<std::uint64_t>(shape.moves), 0u, static_cast<std::uint64_t>(DLeftMoves::search));
}

void detail::require_same_fingerprints(const DLeftShape& mine, const DLeftShape& theirs) {
  require_same(structure, "num_subtables", mine.num_subtables, theirs.num_subtables);
  require_same(structure, "buckets_per_subtable", mine.buckets_per_subtable, theirs.buckets_per_subtable);
  require_same(structure, "cells_per_bucket", mine.cells_per_bucket, theirs.cells_per_bucket);
  require_same(structure, "remainder_bits", mine.remainder_bits, theirs.remainder_bits);
  require_same(structure, "counter_bits", mine.counter_bits, theirs.counter_bits);
  require_same(structure, "least_remainder_bits", mine.least_remainder_bits, theirs.least_remainder_bits);
}

void detail::check_num_buckets(const DLeftShape& shape, std::string_view scheme, std::uint64_t usable_below,
                               std::uint64_t usable_above) {
  if (usable_above == shape.buckets_per_subtable) return;
  throw_parameter_error(structure, "buckets_per_subtable", shape.buckets_per_subtable,
                        std::to_string(usable_below) + " or " + std::to_string(usable_above) +
                            " for the scheme '" + std::string(scheme) + "'");
}

}  // namespace tally

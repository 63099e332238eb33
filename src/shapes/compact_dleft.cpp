#include "tally/shapes/compact_dleft.hpp"

#include <string>

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

constexpr std::string_view compact_structure = "CompactDLeftFilter";

}  // namespace

std::uint64_t num_bytes(const CompactDLeftShape& shape) noexcept {
  return compact_line_bytes * shape.num_lines() + 16 * num_spill_slots(shape.spill_capacity);
}

void check_shape(const CompactDLeftShape& shape) {
  const auto check = [](std::string_view field, auto value, auto low, auto high) {
    detail::require_in_range<std::uint64_t>(compact_structure, field, value, low, high);
  };
  check("num_lines_per_subtable", shape.num_lines_per_subtable, 1u, max_num_buckets);
  check("remainder_bits", shape.remainder_bits, least_compact_remainder_bits, max_compact_remainder_bits);
  check("spill_capacity", shape.spill_capacity, 0u, max_spill_capacity);
  if (shape.moves != DLeftMoves::none && shape.moves != DLeftMoves::search) {
    detail::throw_parameter_error(compact_structure, "moves", static_cast<std::uint64_t>(shape.moves),
                                  "0 (none) or 2 (search)");
  }
}

void detail::require_same_fingerprints(const CompactDLeftShape& mine, const CompactDLeftShape& theirs) {
  require_same(compact_structure, "num_lines_per_subtable", mine.num_lines_per_subtable,
               theirs.num_lines_per_subtable);
  require_same(compact_structure, "remainder_bits", mine.remainder_bits, theirs.remainder_bits);
}

void detail::require_contents_of(const CompactDLeftShape& shape, std::uint64_t num_words,
                                 std::uint64_t spill_capacity) {
  const auto require = [](std::string_view name, std::uint64_t value, std::uint64_t expected) {
    if (value != expected) throw_parameter_error(compact_structure, name, value, std::to_string(expected));
  };
  require("number of words", num_words, compact_line_bytes / 8 * shape.num_lines());
  require("spill_capacity", spill_capacity, shape.spill_capacity);
}

}  // namespace tally

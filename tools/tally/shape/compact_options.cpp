#include <fmt/core.h>

#include <stdexcept>

#include "files/shape_json.hpp"
#include "shape/flags.hpp"
#include "shape/kinds.hpp"

namespace tally::cli {

std::optional<FilterShape> exact_compact(const ShapeOptions& options) {
  const Requirements& wanted = options.wanted;
  const ExactDLeft& exact = options.dleft;
  if (options.num_positions || options.num_hashes) {
    throw std::invalid_argument(
        "--num-positions, --num-hashes: a compact-dleft filter has lines with cells instead; give "
        "--lines-per-subtable and --remainder-bits, or --keys, or --shape");
  }
  const std::string flag = dleft_shape_flag(options);
  if (flag.empty()) return std::nullopt;
  if (wanted.num_keys || wanted.false_positive_rate || wanted.memory_bytes) {
    throw std::invalid_argument(fmt::format(
        "{}: it gives the exact shape, but --keys, --false-positive-rate and --memory plan one; leave out "
        "{} or those",
        flag, flag));
  }
  if (!exact.lines_per_subtable || !exact.remainder_bits) {
    throw std::invalid_argument(flag +
                                ": --lines-per-subtable and --remainder-bits define a shape together; give "
                                "both, or --keys or --memory "
                                "instead");
  }
  CompactDLeftShape shape{.num_lines_per_subtable = *exact.lines_per_subtable,
                          .remainder_bits = *exact.remainder_bits,
                          .spill_capacity = exact.spill_capacity.value_or(64)};
  if (!exact.moves.empty()) shape.moves = moves_of(exact.moves);
  return FilterShape{shape};
}

Requirements completed_compact(const ShapeOptions& options) {
  if (options.wanted.keys_repeat) {
    throw std::invalid_argument(
        "--unique-keys: a compact-dleft filter is planned for keys that are in it once at a time; give this "
        "flag if they are, or give --kind dleft, or an exact shape");
  }
  return completed_filter(options);
}

}  // namespace tally::cli

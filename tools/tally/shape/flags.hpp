#pragma once

#include <string>

#include "shape/options.hpp"

namespace tally::cli {

/// Groups of flags: a kind has all flags of a group or none.
enum FlagGroup : unsigned {
  positions_flags =
      1,  ///< --keys, --false-positive-rate, and, for kinds without cells, --num-positions and --num-hashes
  threshold_flag = 2,
  counter_bits_flag = 4,
  update_flag = 8,
  failure_flag = 16,
  weights_flag = 32,
  dleft_flags = 64,
  sketch_flags = 128,
  cells_flags = 256,  ///< of d-left filters and compact ones
  lines_flag = 512
};

/// Throws std::invalid_argument for the first given flag that the kind does not have. It names the flag, and the
/// kinds that have it.
void refuse_flags_of_other_kinds(const ShapeOptions& options, FilterKind kind);

/// The kinds that have the flags of the group: "dleft or count-min".
std::string kinds_with(FlagGroup group);

/// The name of the first given flag of the group; empty if none is given.
std::string flag_given(const ShapeOptions& options, FlagGroup group);

/// The same for the flags that plan a d-left filter or a compact one, and for those that give their exact shape.
std::string dleft_plan_flag(const ShapeOptions& options);
std::string dleft_shape_flag(const ShapeOptions& options);

}  // namespace tally::cli

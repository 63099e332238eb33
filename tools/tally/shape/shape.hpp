#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "shape/options.hpp"
#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// A shape, and the number of keys that it was planned for (0 if it was not planned for keys).
struct Planned {
  FilterShape shape;
  double num_keys = 0;
};

/// The shape that the options plan or give exactly. All commands use this function. If the options give neither keys
/// nor memory for a filter, `count_keys` returns the number of keys to plan for; without it the planner throws.
/// Throws std::invalid_argument that names the flag for an impossible shape or a contradiction, and what `count_keys`
/// throws.
Planned shape_of(const ShapeOptions& options, const std::function<std::uint64_t()>& count_keys = {});

/// The shape in a file that 'tally plan --json' or 'tally info --json' printed. If `kind` is not empty, the shape
/// must have that kind. Throws std::invalid_argument that names --shape and the file, and std::system_error if it
/// cannot be read.
FilterShape shape_in_file(const std::string& path, const std::string& kind);

}  // namespace tally::cli

#pragma once

#include <string>
#include <string_view>

#include "tally/shapes/filter.hpp"
#include "text/json.hpp"

namespace tally::cli {

/// {"kind", "scheme", "num_positions", "num_hashes", and for kinds that have them "counter_bits",
/// "threshold", "update"}: how every command prints a shape, and what `build --shape` reads.
Json shape_to_json(const FilterShape& shape);

/// Finds the shape in the output of `plan --json` or `info --json`: the object itself, its "shape", or the
/// first of its "candidates" whose kind is `kind` (any if empty). Throws std::invalid_argument if there is
/// none, naming the field that is missing or wrong.
FilterShape shape_from_json(const Json& json, const std::string& kind = "");

/// Throws std::invalid_argument ("is 'x'; must be ...") for an unknown name.
DLeftMoves moves_of(std::string_view name);

}  // namespace tally::cli

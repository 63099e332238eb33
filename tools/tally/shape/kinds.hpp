#pragma once

#include <optional>

#include "shape/options.hpp"
#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// How the flags of a kind become its shape: a row of the table in kinds.cpp.
struct KindOfShape {
  FilterKind kind;
  unsigned flag_groups;  ///< of FlagGroup

  /// The exact shape that the flags give; nothing if they give none. The caller sets the scheme.
  std::optional<FilterShape> (*exact)(const ShapeOptions& options);

  /// The requirements, with defaults for options that are not given.
  Requirements (*completed)(const ShapeOptions& options);
};

const KindOfShape& kind_of_shape(FilterKind kind);

/// The requirements of a filter with the default rate, unless keys and memory are given.
Requirements completed_filter(const ShapeOptions& options);

// In dleft_options.cpp, compact_options.cpp and count_min_options.cpp.
std::optional<FilterShape> exact_dleft(const ShapeOptions& options);
std::optional<FilterShape> exact_compact(const ShapeOptions& options);
Requirements completed_compact(const ShapeOptions& options);
std::optional<FilterShape> exact_count_min(const ShapeOptions& options);
Requirements completed_count_min(const ShapeOptions& options);

}  // namespace tally::cli

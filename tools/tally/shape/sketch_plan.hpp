#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tally/planner/forecast_counts.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/filter.hpp"
#include "tally/sketches/count_min_bound.hpp"
#include "text/json.hpp"

namespace tally::cli {

/// A Count-Min sketch that meets the requirements.
struct SketchCandidate {
  FilterShape shape;
  CountMinBound bound;
  std::string_view source;                     ///< formula and paper
  std::optional<CountForecast> forecast = {};  ///< only if the stream is known
  /// The widths that would do for the stream, with plain and with conservative update. None where the rows depend on each
  /// other (two-hash), as does the forecast's failure probability.
  bool has_independent_rows = true;
  std::optional<std::uint64_t> plain_width = {};
  std::optional<std::uint64_t> conservative_width = {};

  /// The memory of a sketch of that width and as many rows.
  std::uint64_t num_bytes_with(std::uint64_t width) const;
};

inline constexpr double default_sketch_epsilon = 0.0001;

/// The error and the failure probability that the command takes if they are not given and do not follow from the memory.
Requirements with_sketch_defaults(Requirements wanted);

/// One sketch with each kind of rows that meets the requirements, the recommended one first. Reads epsilon,
/// failure_probability, memory_bytes and total_count. With a stream, also what the sketches are expected to report after
/// it. Throws as plan_count_min does.
std::vector<SketchCandidate> sketch_candidates(const Requirements& wanted,
                                               const std::optional<ZipfStream>& stream = {});

/// Why the first one is recommended.
inline constexpr std::string_view reason_for_first_sketch =
    "it has the same bound with half the width, which need not be a prime. Conservative update (--update) "
    "has the same bound and smaller errors, but merging such sketches is no longer exact";

/// What `tally plan --json` prints for sketches.
Json sketch_plan_json(const std::vector<SketchCandidate>& candidates);

}  // namespace tally::cli

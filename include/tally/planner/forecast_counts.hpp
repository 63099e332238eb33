#pragma once

#include <cstdint>
#include <optional>

#include "tally/shapes/count_min.hpp"

namespace tally {

/// Keys that are drawn by Zipf's law, each insertion independently of the others: rank i of num_ranks with a probability
/// proportional to i^-exponent. num_ranks 1 to 2^56; exponent 0 (uniform) to 20; num_insertions 1 to 2^56.
struct ZipfStream {
  std::uint64_t num_ranks = 0;
  double exponent = 0;
  std::uint64_t num_insertions = 0;
};

/// By how much a sketch reports keys too high that it has never seen, on average; keys that are in the stream less.
struct CountForecast {
  double plain_mean_excess = 0;  ///< compound Poisson law
  double conservative_mean_excess =
      0;  ///< predicted; measured within a quarter (theory/conservative_update.hpp)
};

/// What a sketch of this shape, with either update, reports after the stream. Its rows count as independent. Throws
/// std::invalid_argument for an impossible shape, for more than 64 rows, and for a stream out of range.
/// @source theory::conservative_mean_excess, theory::counter_value_distribution
[[nodiscard]] CountForecast forecast_counts(const CountMinShape& shape, const ZipfStream& stream);

/// The least width, at most that of the shape, with which a sketch of its depth with conservative update reports a key
/// that it has never seen too high by more than `error` with at most `failure_probability`: twice the probability that is
/// predicted for 0.8 of the error is at most that. It holds for such a stream only; for any other, only the bound of the width that the
/// planner gives. None if the shape itself is not wide enough, for a failure probability below 1e-4, where the prediction
/// was not measured, and for more than 64 rows.
/// @source theory::conservative_threshold_false_positive_probability
[[nodiscard]] std::optional<std::uint64_t> least_conservative_width(const CountMinShape& shape,
                                                                    const ZipfStream& stream,
                                                                    std::uint64_t error,
                                                                    double failure_probability);

}  // namespace tally

#pragma once

#include <cstdint>
#include <optional>

#include "tally/export.hpp"
#include "tally/planner/zipf_stream.hpp"
#include "tally/shapes/count_min.hpp"

namespace tally {

/// By how much a sketch reports keys too high that it has never seen; keys that are in the stream less.
struct CountForecast {
  double plain_mean_excess = 0;  ///< compound Poisson law
  /// Predicted; measured within a quarter (theory/conservative_update.hpp). None if insertions have weights.
  std::optional<double> conservative_mean_excess = {};
  /// The probability of an excess above the error that was asked for: compound Poisson law.
  double plain_failure_probability = 0;
  /// At most this, as for least_count_min_width. None if insertions have weights.
  std::optional<double> conservative_failure_probability = {};
};

/// What a sketch of this shape, with either update, reports after the stream, and how often it is too high by more than
/// `error`. Its rows count as independent. The laws of plain counters group the insertions where their number is large,
/// which makes counters vary by some percent more. Throws std::invalid_argument for an impossible shape, for more than 64
/// rows, and for a stream out of range.
/// @source theory::conservative_mean_excess, theory::counter_value_distribution
[[nodiscard]] TALLY_EXPORT CountForecast forecast_counts(const CountMinShape& shape, const ZipfStream& stream,
                                                         std::uint64_t error);

/// The least width, at most that of the shape, with which a sketch of its depth and update reports a key that it has
/// never seen too high by more than `error` with at most `failure_probability`. It holds for such a stream only; for any
/// other, only the bound of the width that the planner gives. With plain update it follows from the compound Poisson law;
/// with conservative update twice the probability that is predicted for 0.8 of the error is at most `failure_probability`.
/// None if the shape itself is not wide enough, for more than 64 rows, and with conservative update for weights, and for a
/// failure probability below 1e-4, where the prediction was not measured.
/// @source theory::ln_counter_upper_tail, theory::conservative_threshold_false_positive_probability
[[nodiscard]] TALLY_EXPORT std::optional<std::uint64_t> least_count_min_width(const CountMinShape& shape,
                                                                              const ZipfStream& stream,
                                                                              std::uint64_t error,
                                                                              double failure_probability);

}  // namespace tally

#pragma once

#include <cstdint>
#include <string_view>

#include "tally/any_filter/simulation.hpp"
#include "tally/export.hpp"

// Whether a filter's promise holds: a simulation beside the rate that the planner was asked for.

namespace tally {

/// A false positive rate that keys with this true count do not exceed.
struct Promise {
  double false_positive_rate = 0;
  std::uint64_t true_count = 0;
};

enum class PromiseOutcome : std::uint8_t {
  kept,    ///< the measured rate is not above the promised one, as far as these queries can show
  broken,  ///< it is: the promised rate is below the limit of the measurement
  unseen  ///< too few false positives were expected: even none at all would not show that the promise is kept
};

/// "kept", "broken" or "unseen".
TALLY_EXPORT std::string_view name_of(PromiseOutcome outcome) noexcept;

/// A promise, and the test of it.
struct PromiseVerdict {
  Promise promise;
  MeasuredRate measured;
  double low = 0;  ///< one-sided lower limit of the measurement
  /// The least true rate above the promised one that as many queries would show to break it in 9 of 10 simulations.
  double noticed_rate = 0;
  PromiseOutcome outcome = PromiseOutcome::kept;
};

/// Tests, one-sided and with this confidence, whether the measured rate of the promise's true count is at most the promised
/// rate. Throws std::invalid_argument if the result has no such true count, or for a rate or a confidence outside (0, 1).
/// @source Clopper and Pearson 1934 for the limit
[[nodiscard]] TALLY_EXPORT PromiseVerdict judge_promise(const SimulationResult& result,
                                                        const Promise& promise, double confidence);

/// The number of insertions with which a simulation of this shape and threshold has almost this number of distinct keys, and
/// never more: the load that a plan for num_keys promises its rate for. More than num_keys if theta is above 1, because
/// some keys are inserted several times.
[[nodiscard]] TALLY_EXPORT std::uint64_t insertions_of_distinct_keys(SimulationPlan plan,
                                                                     std::uint64_t num_keys);

/// The true rate that this number of queries shows to be too high in 9 of 10 simulations, where a test accepts up to
/// `most_accepted` false positives.
TALLY_EXPORT double noticed_rate(std::uint64_t most_accepted, std::uint64_t num_queries);

}  // namespace tally

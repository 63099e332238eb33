#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tally/any_filter/promise.hpp"
#include "tally/any_filter/simulation.hpp"
#include "tally/any_filter/simulation_cost.hpp"
#include "tally/export.hpp"
#include "tally/theory/confidence.hpp"

// Whether a filter's formula holds: simulations beside predictions.

namespace tally {

/// What a caller may fix of a simulation; the rest has defaults.
struct SimulationWishes {
  /// theta of the queries. For a sketch 1 to 10000; default: the least count that at most 10% of the absent keys reach.
  /// For other kinds only the theta that the shape was made for, which is the default, or 1 if it has none.
  std::optional<std::uint64_t> threshold = {};
  /// Filters to fill, 1 to 2^40. Default: 20 to 1000, so that all together get about 20 million insertions; more if theta is
  /// above 1, for about 1000 false positives of keys that were inserted theta - 1 times; but no more than `seconds` allow,
  /// and at least 5.
  std::optional<std::uint64_t> num_trials = {};
  /// Queries per filter for keys that were never inserted, 1 to 2^40. Default: enough for about 1000 false positives in
  /// all filters, 100 to 10 million; but no more than `seconds` allow, and a tenth of them if these would not do to see the
  /// rate.
  std::optional<std::uint64_t> num_queries = {};
  std::uint64_t seed = 0;
  /// The time for all that has a default, by simulation_seconds: above 0. Only the default of a large filter may take longer:
  /// see small_enough_to_simulate.
  double seconds = usual_simulation_seconds;
};

/// The plan of a simulation with `num_insertions` per filter, 1 to 2^56. Throws std::invalid_argument if the shape, this
/// number, a wish or the shape's own theta is out of range, or if more than 10% of the absent keys of a sketch reach a
/// count of 10000 and no threshold is given.
[[nodiscard]] TALLY_EXPORT SimulationPlan plan_simulation(const FilterShape& shape,
                                                          std::uint64_t num_insertions,
                                                          const SimulationWishes& wishes = {});

/// A measured rate, and whether the predicted one is inside its limits.
struct Verdict {
  MeasuredRate measured;
  double predicted = 0;
  LawKind law = LawKind::exact;
  theory::ProbabilityInterval limits;  ///< of the measurement
  bool inside = false;
  /// The least true rate above the predicted one that as many queries would show to be outside in 9 of 10 simulations.
  double noticed_rate = 0;
  /// Whether the limits of a measured rate of 0 would exclude the predicted one. If not, the rate is too small to be seen
  /// with these queries, which then only test that it is no higher.
  bool is_seen = false;

  /// Only an exact law is contradicted by a rate outside the limits.
  bool contradicts() const noexcept { return !inside && law == LawKind::exact; }
};

/// Whether the measured rate may be lower than the predicted one: with conservative update.
[[nodiscard]] TALLY_EXPORT bool is_upper_bound(const FilterShape& shape) noexcept;

/// Compares the rates that simulate(plan) measured with the predicted ones, each with this confidence; else
/// std::invalid_argument if it is not in (0, 1). The limits allow for queries that share a filter
/// (MeasuredRate::design_effect).
/// @source Clopper and Pearson 1934 for the limits
[[nodiscard]] TALLY_EXPORT std::vector<Verdict> judge(const SimulationPlan& plan,
                                                      const SimulationResult& result, double confidence);

/// A simulation and its verdicts.
struct Verification {
  SimulationPlan plan;
  SimulationResult result;
  std::vector<Verdict>
      verdicts;  ///< empty if nothing was measured: a filter was full, or no trial was wanted
  std::optional<PromiseVerdict> promise = {};  ///< if there is one to test

  /// Whether rates were measured, no exact law is contradicted, no promise is broken, and there is no false negative.
  bool is_good() const noexcept {
    return !verdicts.empty() && !result.was_full && result.num_false_negatives == 0 &&
           std::ranges::none_of(verdicts, &Verdict::contradicts) &&
           !(promise && promise->outcome == PromiseOutcome::broken);
  }
};

/// Simulates, and judges all rates so that their limits hold together with `confidence`, above 0 and at most
/// 1 - 1e-12; else std::invalid_argument. Throws what `simulate` throws.
[[nodiscard]] TALLY_EXPORT Verification verify(const SimulationPlan& plan, double confidence = 0.999);

}  // namespace tally

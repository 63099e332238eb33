#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tally/any_filter/simulation.hpp"
#include "tally/theory/confidence.hpp"

// Whether a filter's formula holds: simulations beside predictions.

namespace tally {

/// What a caller may fix of a simulation; the rest has defaults.
struct SimulationWishes {
  /// theta of the queries: 1 to 10000. Default: the one that the shape was made for, and 1 for Bloom and d-left filters. For
  /// a sketch the least count that at most 10% of the absent keys reach.
  std::optional<std::uint64_t> threshold = {};
  /// Filters to fill. Default: 20 to 1000, so that all together get about 20 million insertions.
  std::optional<std::uint64_t> num_trials = {};
  /// Queries per filter for keys that were never inserted. Default: enough for about 1000 false positives in all filters,
  /// 100 to 10 million.
  std::optional<std::uint64_t> num_queries = {};
  std::uint64_t seed = 0;
};

/// The plan of a simulation that fills filters of this shape with `num_insertions` new keys each. Throws
/// std::invalid_argument if num_insertions is 0 or the threshold is out of range, or if this number of keys raises all counts of a
/// sketch by more than 10000.
[[nodiscard]] SimulationPlan plan_simulation(const FilterShape& shape, std::uint64_t num_insertions,
                                             const SimulationWishes& wishes = {});

/// A measured rate, and whether the predicted one is inside its limits.
struct Verdict {
  MeasuredRate measured;
  double predicted = 0;
  LawKind law = LawKind::exact;
  theory::ProbabilityInterval limits;  ///< of the measurement
  bool inside = false;

  /// Only an exact law is contradicted by a rate outside the limits.
  bool contradicts() const noexcept { return !inside && law == LawKind::exact; }
};

/// Whether the measured rate may be lower than the predicted one: with conservative update.
[[nodiscard]] bool is_upper_bound(const FilterShape& shape) noexcept;

/// Compares the rates of a simulation with the predicted ones, each with this confidence, in (0, 1). The limits allow for
/// queries that share a filter (MeasuredRate::design_effect).
/// @source Clopper and Pearson 1934 for the limits
[[nodiscard]] std::vector<Verdict> judge(const SimulationPlan& plan, const SimulationResult& result,
                                         double confidence);

/// A simulation and its verdicts.
struct Verification {
  SimulationPlan plan;
  SimulationResult result;
  std::vector<Verdict> verdicts;  ///< empty if result.was_full

  bool is_good() const noexcept {
    return !result.was_full && result.num_false_negatives == 0 &&
           std::ranges::none_of(verdicts, &Verdict::contradicts);
  }
};

/// Simulates, and judges all rates so that the limits hold together with `confidence`. Throws what `simulate` throws, and
/// std::invalid_argument for a confidence outside (0, 1).
[[nodiscard]] Verification verify(const SimulationPlan& plan, double confidence = 0.999);

}  // namespace tally

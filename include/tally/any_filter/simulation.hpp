#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tally/export.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/shapes/filter.hpp"

namespace tally {

/// How a shape is tested: every trial fills a new filter with new random keys.
struct SimulationPlan {
  FilterShape shape;
  std::uint64_t threshold = 1;       ///< theta of the queries; 1 for Bloom and d-left filters
  std::uint64_t num_insertions = 0;  ///< per filter, including repeated keys
  std::uint64_t num_trials = 0;
  std::uint64_t num_queries = 0;  ///< for keys that were never inserted, per trial
  std::uint64_t seed = 0;
  /// Called before each trial, and in it after every 2^18 keys; the simulation stops when it returns true. The result is
  /// that of the trials before.
  std::function<bool()> should_stop;
  /// Called after each trial with the number of trials so far.
  std::function<void(std::uint64_t num_trials)> after_trial = {};
};

/// The keys that a trial inserts: for each true count t that is queried, a group of keys that are really inserted t
/// times each, with all the load that this brings. All other keys are inserted once.
struct InsertionMix {
  /// Keys with the same true count.
  struct Group {
    std::uint64_t true_count = 0;
    std::uint64_t num_keys = 0;
  };
  std::vector<Group> groups;  ///< by ascending true count, from 0 (not inserted) to theta
  std::uint64_t num_single_keys = 0;
};

TALLY_EXPORT InsertionMix insertion_mix(const SimulationPlan& plan);

/// The probability that a query reports a key with this true count as inserted theta times, given the mix. If theta
/// is 1, the law of the scheme. Otherwise, and for a Count-Min sketch, a law that treats the k counters as
/// independent, each a sum of binomial numbers of insertions; for double and triple hashing, and for two-hash rows,
/// it is the limit for large filters. For a blocked counting Bloom filter, the exact law of its lines; where that takes too
/// long, an approximation, which is marked as a limit.
TALLY_EXPORT SchemeLaw predicted_law(const SimulationPlan& plan, const InsertionMix& mix,
                                     std::uint64_t true_count);

/// The result for the keys with one true count below theta.
struct MeasuredRate {
  std::uint64_t true_count = 0;
  std::uint64_t num_queries = 0;
  std::uint64_t num_passed = 0;
  double rate() const { return static_cast<double>(num_passed) / static_cast<double>(num_queries); }
  /// Variance of the number passed per trial, divided by the binomial variance; at least 1. It differs because the
  /// queries of a trial share its filter. Confidence limits are calculated for num_queries divided by it.
  double design_effect = 1;
  /// num_queries divided by the design effect: independent queries that would show as much; at least 1.
  std::uint64_t num_effective() const {
    const double effective = static_cast<double>(num_queries) / design_effect;
    return effective < 1 ? 1 : static_cast<std::uint64_t>(effective);
  }
};

/// What the trials of a SimulationPlan measured.
struct SimulationResult {
  std::vector<MeasuredRate> rates;
  std::uint64_t num_false_negatives = 0;
  std::uint64_t num_positives_checked = 0;
  bool was_full =
      false;  ///< a d-left filter of this shape was full and refused insertions: nothing was measured
};

/// Throws std::invalid_argument for a plan out of range; std::bad_alloc.
TALLY_EXPORT SimulationResult simulate(const SimulationPlan& plan);

}  // namespace tally

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/planner/scheme_law.hpp"
#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// How a shape is tried: fresh random keys in a fresh filter each trial.
struct SimulationPlan {
  FilterShape shape;
  std::uint64_t threshold = 1;       ///< theta that is asked for; 1 for Bloom and d-left filters
  std::uint64_t num_insertions = 0;  ///< in a filter, repeats counted
  std::uint64_t num_trials = 0;
  std::uint64_t num_queries = 0;  ///< of keys never inserted, a trial
  std::uint64_t seed = 0;
};

/// What a trial inserts: keys seen t times each for the true counts that are asked for (so that a key asked
/// for is a key really inserted t times, with all the load it brings), the rest once each.
struct InsertionMix {
  struct Group {
    std::uint64_t true_count = 0;
    std::uint64_t num_keys = 0;
  };
  std::vector<Group> groups;  ///< true counts 0 (nothing inserted) up to theta, ascending
  std::uint64_t num_single_keys = 0;
};

InsertionMix insertion_mix(const SimulationPlan& plan);

/// The chance that a key of this true count passes, given the mix. Where theta is 1, the law of the scheme; else, and in
/// a Count-Min sketch, each of the k counters, taken as independent, holds a sum of binomial numbers of insertions, which
/// under double and triple hashing, and in rows from two hashes, is what large filters tend to.
SchemeLaw predicted_law(const SimulationPlan& plan, const InsertionMix& mix, std::uint64_t true_count);

/// What became of the keys of one true count below theta.
struct MeasuredRate {
  std::uint64_t true_count = 0;
  std::uint64_t num_queries = 0;
  std::uint64_t num_passed = 0;
  double rate() const { return static_cast<double>(num_passed) / static_cast<double>(num_queries); }
  /// Variance of the number passed a trial over the binomial one, at least 1: the queries of one trial
  /// share its filter. Confidence limits are taken for num_queries divided by it.
  double design_effect = 1;
};

struct SimulationResult {
  std::vector<MeasuredRate> rates;
  std::uint64_t num_false_negatives = 0;
  std::uint64_t num_positives_checked = 0;
};

SimulationResult simulate(const SimulationPlan& plan);

}  // namespace tally::cli

#pragma once

// Only for src/planner/: how many counters are at their maximum at the end of the planned life.

#include <cstdint>

#include "planner/predict.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/counting_bloom.hpp"

namespace tally::planner_detail {

/// Of all counters, at most this share may be saturated at the end of the planned life if every key is inserted once.
inline constexpr double most_saturated_share = 1e-6;

/// Whether many counters are likely to saturate. Such a filter is unsuitable for removals and counts.
inline bool saturates_often(const Candidate& candidate) {
  const auto num_counters = static_cast<double>(candidate.shape.num_positions());
  return candidate.saturation_probability > 0.5 &&
         candidate.expected_saturated_counters > most_saturated_share * num_counters;
}

/// Whether it is known how often keys repeat, up to this number of times.
bool knows_counts_up_to(const Keys& keys, std::uint64_t count);

/// The expected number of counters that reach `full` over this number of replacements, at most.
double expected_saturated(const Keys& keys, std::uint64_t num_keys, const CountingBloomShape& shape,
                          std::uint64_t full, std::uint64_t num_replacements);

/// The same for a filter whose keys have all their counters in one line.
double expected_saturated_in_lines(const Keys& keys, std::uint64_t num_keys, const CountingBloomShape& shape,
                                   std::uint64_t full, std::uint64_t num_replacements);

/// ln of a rate of k counters, each of which is saturated with a probability of `share` if it is not high enough anyway.
double raised_by_saturation(double ln_rate, std::uint32_t k, double share) noexcept;

/// Sets what follows from the expected number of saturated counters. If keys are replaced, raises the rates by what these add:
/// a counter that is not high enough is saturated with the probability of their share. In a filter that was only filled, a
/// saturated counter is high anyway.
void add_saturation(Candidate& candidate, double expected, std::uint64_t num_replacements);

}  // namespace tally::planner_detail

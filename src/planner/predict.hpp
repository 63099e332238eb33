#pragma once

// Shared by src/planner_*.cpp only: what a shape will do, once it is chosen.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/search.hpp"
#include "tally/planner/plan.hpp"

namespace tally::planner_detail {

/// What is known of the keys.
struct Keys {
  std::uint64_t num_keys = 0;        ///< distinct; 0 where that is solved for
  std::uint64_t num_insertions = 0;  ///< 0: not known
  const theory::CountHistogram* histogram = nullptr;

  ErrorLaw error_law() const {
    if (histogram != nullptr) return ErrorLaw::histogram;
    return num_insertions != 0 ? ErrorLaw::insertions : ErrorLaw::bound;
  }
};

/// ln of the error of a key inserted theta - gap times, never above the Bloom bound `scheme` gives.
double ln_error(const Law& scheme, const Keys& keys, std::uint64_t num_keys, std::uint64_t m, std::uint32_t k,
                std::uint64_t gap);

/// Errors for the true counts worth listing: all below theta = 32, else a few from 0 to theta - 1.
std::vector<PredictedError> predict_errors(const Law& scheme, const Keys& keys, std::uint64_t num_keys,
                                           std::uint64_t m, std::uint32_t k, std::uint64_t theta);

/// Bound on the chance that any of m counters reaches `full`.
double predict_saturation(const Keys& keys, std::uint64_t num_keys, std::uint64_t m, std::uint32_t k,
                          std::uint64_t full);

/// Counters that are likely to stick are not what removes and counts need.
inline bool saturates_often(const Candidate& candidate) { return candidate.saturation_probability > 0.5; }

/// `ln_rate_absent` is the error of a key never inserted.
CacheLines expected_lines(bool one_line, std::uint64_t m, std::uint32_t k, std::uint32_t positions_per_line,
                          double ln_rate_absent);

/// Of a d-left filter: a bucket of every subtable, all asked for at once.
CacheLines bucket_lines(const DLeftShape& shape);

/// For the law Pr(Poisson(k n / m) >= gap)^k.
RoundingCost rounding_cost(const Wanted& wanted, const Candidate& candidate, std::uint64_t n,
                           std::uint64_t gap);

/// A hash table of digests, and of counts where keys repeat, three quarters full.
double exact_table_bytes(std::uint64_t num_keys, bool with_counts);

/// What the user should know before taking the plan's first candidate.
std::vector<std::string> warnings_for(const Requirements& requirements, const Keys& keys, const Plan& plan);

/// Why the plan's first candidate.
std::string reason_for(const Requirements& requirements, const Plan& plan);

/// "1.23e-05"
std::string short_number(double value);

}  // namespace tally::planner_detail

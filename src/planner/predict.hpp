#pragma once

// Only for src/planner/: predictions for a shape that is already chosen.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/search.hpp"
#include "tally/planner/plan.hpp"

namespace tally::planner_detail {

/// What is known about the keys.
struct Keys {
  std::optional<std::uint64_t> num_keys;        ///< distinct keys; empty if the planner solves for it
  std::optional<std::uint64_t> num_insertions;  ///< empty if unknown
  const theory::CountHistogram* histogram = nullptr;

  ErrorLaw error_law() const {
    if (histogram != nullptr) return ErrorLaw::histogram;
    return num_insertions ? ErrorLaw::insertions : ErrorLaw::bound;
  }
  /// Whether it is known that some keys are inserted more than once.
  bool repeat() const { return histogram != nullptr || num_insertions > num_keys; }
};

/// ln of the false positive rate for a key inserted true_count = theta - gap times; at most the bound that `scheme` gives.
double ln_error(const Law& scheme, const Keys& keys, std::uint64_t num_keys, std::uint64_t m, std::uint32_t k,
                std::uint64_t gap, std::uint64_t true_count);

/// False positive rates by true count: for all true counts if theta is at most 32, else for a few from 0 to theta - 1.
std::vector<PredictedError> predict_errors(const Law& scheme, const Keys& keys, std::uint64_t num_keys,
                                           std::uint64_t m, std::uint32_t k, std::uint64_t theta);

/// `ln_rate_absent` is ln of the false positive rate for a key that was never inserted.
CacheLines expected_lines(bool one_line, std::uint64_t m, std::uint32_t k, std::uint32_t positions_per_line,
                          double ln_rate_absent);

/// For a d-left filter: one bucket of every subtable, all prefetched together.
CacheLines bucket_lines(const DLeftShape& shape);

/// For the law Pr(Poisson(k n / m) >= gap)^k.
RoundingCost rounding_cost(const Wanted& wanted, const Candidate& candidate, std::uint64_t n,
                           std::uint64_t gap);

/// Memory of a hash table of digests, with counts if `with_counts`, that is three quarters full.
double exact_table_bytes(std::uint64_t num_keys, bool with_counts);

/// What the user should know before using the first candidate of the plan.
std::vector<std::string> warnings_for(const Requirements& requirements, const Keys& keys, const Plan& plan);

/// Why the first candidate of the plan is recommended.
std::string reason_for(const Requirements& requirements, const Plan& plan);

/// "1.23e-05"
std::string short_number(double value);

/// "46.3% more": of `value` compared with `reference`; no sign of a difference below what three digits show.
std::string percent_more(double value, double reference);

inline bool removes_or_counts(const Requirements& requirements) noexcept {
  return requirements.needs_deletes || requirements.needs_counts;
}

}  // namespace tally::planner_detail

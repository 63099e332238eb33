#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/export.hpp"
#include "tally/planner/dleft_forecast.hpp"
#include "tally/planner/operation_costs.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/filter.hpp"

namespace tally {

/// The probability that a query reports a key inserted true_count times as inserted theta times.
struct PredictedError {
  std::uint64_t true_count = 0;
  double false_positive_rate = 0;
  double ln_false_positive_rate = 0;
};

/// How the false positive rates for true counts below theta - 1 are calculated.
enum class ErrorLaw : std::uint8_t {
  bound,  ///< the counts of the keys are unknown: the rate at theta - 1 is an upper bound for all
  insertions,  ///< insertions of keys drawn at random, compound Poisson; as many as keys: binomial (Kim et al. 2019,
               ///< equation 2)
  histogram,  ///< the given histogram, compound Poisson
  conservative  ///< the given histogram with conservative update, if keys come in random order: twice the predicted rate, or
  ///< what a simulation says if that is more; theory/conservative_update.hpp
};

/// "bound", "insertions", "histogram" or "conservative".
TALLY_EXPORT std::string_view name_of(ErrorLaw law) noexcept;

/// Expected number of 64-byte cache lines that an operation on one key touches, if it reads positions one after the
/// other. Batch functions prefetch the first two positions together, so an absent key costs them at least min(2, k)
/// lines.
struct CacheLines {
  double insert = 0;
  double lookup_absent = 0;
  double lookup_present = 0;
};

/// The cost of whole numbers, compared with the best shape in real numbers: percent more memory if a rate is required,
/// percent higher false positive rate if the memory is given.
struct RoundingCost {
  double whole_hashes_percent = 0;  ///< k must be whole
  double whole_words_percent = 0;   ///< positions must be whole, and fill 64-bit words
  bool is_of_memory = true;         ///< false: of the false positive rate
};

/// A structure that meets the requirements. AnyFilter(candidate.shape, seed) constructs it.
struct TALLY_EXPORT Candidate {
  FilterShape shape;                      ///< with kind, scheme and memory
  std::uint64_t num_keys = 0;             ///< distinct keys it is planned for
  std::uint64_t promised_true_count = 0;  ///< the rate is guaranteed up to this true count
  double false_positive_rate = 0;         ///< predicted there
  std::vector<PredictedError> errors;     ///< by true count; every one below theta up to theta = 32
  ErrorLaw error_law = ErrorLaw::bound;
  /// The result of the simple threshold formula (Kim et al. 2019, equation 2) for a key that was never inserted, from
  /// the number of insertions in the histogram. Empty without a histogram or if theta is 1. The formula assumes that
  /// insertions are independent; errors.front() does not.
  std::optional<double> simple_threshold_rate = {};
  /// Upper bound on the probability that any counter saturates in the planned life; 0 if that is harmless.
  double saturation_probability = 0;
  /// Upper bound on the expected number of counters that are saturated at the end of the planned life. The rates include
  /// what these add.
  double expected_saturated_counters = 0;
  CacheLines cache_lines;
  OperationCosts operation_costs;
  std::optional<RoundingCost> rounding_cost;  ///< empty if no formula gives the best shape in real numbers
  std::optional<DLeftForecast> dleft;         ///< for d-left filters only
  std::string summary;                        ///< what the structure is good for
  std::string source;                         ///< formula and paper

  FilterKind kind() const noexcept { return shape.kind(); }
  /// The name of the kind, and for a d-left filter its buckets: "dleft 2 x 32", or "dleft 2 x 32 without moves". There may be
  /// several of a kind.
  std::string name() const;
  double bits_per_key() const {
    return 8.0 * static_cast<double>(shape.num_bytes()) / static_cast<double>(num_keys);
  }
};

/// The structures that meet the requirements, which one is recommended, and why.
struct Plan {
  std::vector<Candidate> candidates;  ///< the recommended one first
  std::string reason;                 ///< why the first one is recommended
  std::vector<std::string> warnings;
  double exact_table_bytes =
      0;  ///< a hash table of 128-bit digests (and 32-bit counts if theta > 1), 3/4 full

  const Candidate& recommended() const& { return candidates.front(); }
  Candidate recommended() && { return std::move(candidates.front()); }
};

/// Every structure that meets the requirements, side by side. Allocates no structure. Of num_keys (or histogram),
/// false_positive_rate and memory_bytes give exactly two. Reads all other fields too, except true_count, which each
/// candidate reports, and epsilon and total_count, which are for sketches. Throws std::invalid_argument for
/// requirements out of range or that no structure can meet.
///
/// `figures` are times that were measured on the user's machine. A candidate takes those of its own shape; if there are
/// none, the times of operation_costs, multiplied by how much longer a line read takes in the figures. Also throws for a
/// time that is not above 0, and for two figures of a candidate's shape.
[[nodiscard]] TALLY_EXPORT Plan plan(const Requirements& requirements,
                                     std::span<const MeasuredFilter> figures = {});

}  // namespace tally

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tally/hashing/congruential_scheme.hpp"
#include "tally/planner/dleft_forecast.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/dleft.hpp"
#include "tally/shapes/threshold.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally {

/// What the user knows and wants. Exactly two of {num_keys or histogram, false_positive_rate,
/// memory_bytes}; 0 is 'not given'. Ranges as in BloomRequest.
struct Requirements {
  std::uint64_t num_keys = 0;  ///< distinct keys
  double false_positive_rate = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t threshold = 1;  ///< theta
  bool needs_deletes = false;
  bool needs_counts = false;  ///< how often a key is in it will be asked
  std::string_view scheme = DefaultScheme::name;

  /// Insertions of all keys together; 0 is 'not known'. Not with a histogram, which knows it better.
  std::uint64_t num_insertions = 0;
  /// In place of num_keys: how many keys have which count. Counts up to theta must be told apart.
  std::optional<theory::CountHistogram> histogram = {};

  // For d-left candidates, as in DLeftRequest.
  std::uint64_t num_frequent_keys = 0;
  bool keys_repeat = true;
  /// By default default_replacements_per_key times the keys where deletes are needed, else 0.
  std::optional<std::uint64_t> lifetime_operations = {};
  double failure_probability = default_failure_probability;
  std::uint32_t max_doublings = 0;
  /// A d-left filter without vector loops is recommended only where no other candidate does the job. False: as others are.
  bool prefers_speed = true;
};

/// The chance that a key inserted true_count times is taken for one inserted theta times.
struct PredictedError {
  std::uint64_t true_count = 0;
  double false_positive_rate = 0;
  double ln_false_positive_rate = 0;
};

/// Where the errors for true counts below theta - 1 come from.
enum class ErrorLaw : std::uint8_t {
  bound,       ///< nothing is known of the multiplicities: the error at theta - 1 bounds them all
  insertions,  ///< independent insertions, binomial (Kim et al. 2019, equation 2)
  histogram    ///< the given histogram, compound Poisson
};

/// Expected 64-byte lines that one key touches, its positions looked at one after the other. The batch
/// forms ask for the first two positions at once, so an absent key costs them min(2, k) lines at least.
struct CacheLines {
  double insert = 0;
  double lookup_absent = 0;
  double lookup_present = 0;
};

/// What whole numbers cost against the best real-valued shape: percent more memory where a rate
/// was asked for, percent more error where the memory was given.
struct RoundingCost {
  double whole_hashes_percent = 0;  ///< k must be whole
  double whole_words_percent = 0;   ///< positions must be whole, and fill 64-bit words
  bool is_of_memory = true;         ///< false: of the error
};

/// One structure that would do.
struct Candidate {
  std::string_view kind;  ///< "bloom", "blocked-bloom", "counting-bloom", "threshold" or "dleft"
  std::string_view scheme;
  std::uint16_t scheme_id = 0;
  std::variant<BloomShape, CountingBloomShape, ThresholdShape, DLeftShape> shape;
  std::uint64_t num_positions = 0;  ///< bits, counters or cells
  std::uint32_t num_hashes = 0;     ///< or subtables
  std::uint32_t counter_bits = 1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t num_keys = 0;  ///< distinct keys it is planned for
  double bits_per_key = 0;
  std::uint64_t promised_true_count = 0;  ///< the rate is promised up to this true count
  double false_positive_rate = 0;         ///< predicted there
  std::vector<PredictedError> errors;     ///< by true count; every one below theta up to theta = 32
  ErrorLaw error_law = ErrorLaw::bound;
  /// What the simple threshold formula (Kim et al. 2019, equation 2) gives for a key never inserted, from all
  /// insertions of the histogram; none without a histogram or where theta is 1. It takes insertions as independent
  /// of each other; errors.front() does not.
  std::optional<double> simple_threshold_rate = {};
  double saturation_probability =
      0;  ///< bound on the chance that any counter saturates; 0 where that is harmless
  CacheLines cache_lines;
  std::optional<RoundingCost> rounding_cost;  ///< none where the best real-valued shape has no formula
  std::optional<DLeftForecast> dleft;         ///< of a d-left filter only
  std::string summary;                        ///< what it is good for, in a sentence
  std::string source;                         ///< formula and paper
};

struct Plan {
  std::vector<Candidate> candidates;  ///< the recommended one first
  std::string reason;                 ///< why the first
  std::vector<std::string> warnings;
  double exact_table_bytes =
      0;  ///< a hash table of 128-bit digests (and 32-bit counts if theta > 1), 3/4 full

  const Candidate& recommended() const { return candidates.front(); }
};

/// Every structure that meets the requirements, side by side. Nothing is allocated but the answer.
/// Throws std::invalid_argument for requirements out of range or that no structure can meet.
Plan plan(const Requirements& requirements);

}  // namespace tally

#pragma once

#include <cstdint>
#include <optional>

#include "tally/planner/plan.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/planner/sample.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/threshold.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally {

/// From what is wanted to a shape. Nothing here allocates a filter.
///
/// Of num_keys, false_positive_rate and memory_bytes give exactly two; 0 is 'not given':
///
///   keys and rate     the least number of positions, over all numbers of hashes, that keeps the rate
///   keys and memory   as many positions as fit, and the number of hashes with the lowest rate
///   memory and rate   as many positions as fit, and the number of hashes that carries the most keys
///
/// The rate is met, never missed by rounding; the memory is never exceeded. Among equals the fewest
/// hashes are taken. The formulas are those of theory/, the exact ones where there is a choice, for
/// the scheme DefaultScheme (BlockedScheme for plan_blocked_bloom).
///
/// num_keys is 1 to 2^56, false_positive_rate in (0, 1), memory_bytes at least 8 (one word). Anything
/// else, and what needs more than 2^56 positions or 1024 hashes, throws std::invalid_argument.
struct BloomRequest {
  std::uint64_t num_keys = 0;      ///< distinct keys
  double false_positive_rate = 0;  ///< of a key never inserted, once all keys are in
  std::uint64_t memory_bytes = 0;  ///< of the filter's storage, num_bytes(shape): a hard bound
};

/// @source theory::false_positive_probability (Fan et al. 2000)
BloomShape plan_bloom(const BloomRequest& request);

/// For BlockedBloomFilter: num_bits is a multiple of 512; at most 64 hashes are considered.
/// @source theory::blocked_bloom_false_positive_probability (after Putze et al. 2007)
BloomShape plan_blocked_bloom(const BloomRequest& request);

/// As BloomRequest. The rate is that of may_contain for a key that is not in the filter, and of at_least(theta)
/// for one that is in it fewer than theta times, whatever the multiplicities of the others.
struct CountingBloomRequest {
  std::uint64_t num_keys = 0;  ///< distinct keys in the filter at any one time
  double false_positive_rate = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t max_threshold = 1;  ///< largest theta it will be asked for

  /// 0: the least width from 4 bits on that holds max_threshold and keeps the probability that any
  /// counter ever saturates at or below max_saturation_probability, for num_keys keys inserted once each.
  std::uint32_t counter_bits = 0;
  double max_saturation_probability = 1e-6;
};

/// @source theory::false_positive_probability and theory::counter_overflow_union_bound (Fan et al. 2000)
CountingBloomShape plan_counting_bloom(const CountingBloomRequest& request);

/// The default true_count: the promise holds for every key below the threshold.
inline constexpr std::uint64_t any_true_count = ~std::uint64_t{0};

/// As BloomRequest.
struct ThresholdRequest {
  std::uint64_t num_keys = 0;  ///< distinct keys
  double false_positive_rate = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t threshold = 1;  ///< theta: 1 to 2^32 - 1
  CounterUpdate update = CounterUpdate::plain;

  /// The largest true count, below theta, for which the rate is promised. any_true_count is theta - 1:
  /// a false positive then needs one foreign key on each of the k counters, which is the false
  /// positive of a Bloom filter, (1 - (1 - 1/m)^(k num_keys))^k, whatever the multiplicities. A smaller one
  /// saves memory but rests on what is known of the multiplicities: `histogram`, or else the
  /// assumption that insertions are independent (each key inserted about equally often).
  /// 0 is the query of Kim et al. for keys never inserted.
  std::uint64_t true_count = any_true_count;

  /// For a true_count below theta - 1 without a histogram: insertions of all keys together;
  /// 0 is one a key. With memory and rate given, the number of insertions is what is solved for.
  std::uint64_t num_insertions = 0;

  /// In place of num_keys: how many keys have which count (theory::make_count_histogram).
  std::optional<theory::CountHistogram> histogram = {};
};

/// @source theory::false_positive_probability for true_count = theta - 1; else
///         theory::threshold_false_positive_probability (Kim et al. 2019, equation 2), or with a histogram
///         theory::compound_threshold_false_positive_probability
ThresholdShape plan_threshold(const ThresholdRequest& request);

/// The most distinct keys (0 if not even one) with which a filter keeps the rate that its kind's request
/// promises by default. Throws std::invalid_argument for a rate outside (0, 1) or an impossible shape.
std::uint64_t planned_num_keys(const BloomShape& shape, double false_positive_rate);
std::uint64_t planned_num_keys_blocked(const BloomShape& shape, double false_positive_rate);
std::uint64_t planned_num_keys(const CountingBloomShape& shape, double false_positive_rate);
std::uint64_t planned_num_keys(const ThresholdShape& shape, double false_positive_rate);

}  // namespace tally

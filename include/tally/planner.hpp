#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/planner/check_plan.hpp"
#include "tally/planner/fewest_hashes.hpp"
#include "tally/planner/forecast_counts.hpp"
#include "tally/planner/plan.hpp"
#include "tally/planner/plan_compact_dleft.hpp"
#include "tally/planner/plan_count_min.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/planner/plan_shares.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/planner/sample.hpp"
#include "tally/shapes/blocked_bloom.hpp"
#include "tally/shapes/blocked_counting_bloom.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/duplicate.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally {

/// These functions calculate a shape from requirements. None of them allocates a filter.
///
/// Of num_keys, false_positive_rate and memory_bytes give exactly two:
///
///   keys and rate     the least number of positions, over all numbers of hashes, that meets the rate
///   keys and memory   as many positions as fit, and the number of hashes with the lowest rate
///   memory and rate   as many positions as fit, and the number of hashes that allows the most keys
///
/// Rounding never makes a shape miss the rate or exceed the memory. Among equals the fewest hashes are chosen. The
/// formulas are those of theory/ for the scheme in the requirements, by default DefaultScheme (for blocked filters, their own
/// one), the exact ones if there is a choice.
///
/// Throw std::invalid_argument for requirements out of range, and for those that need more than 2^56 positions or 1024
/// hashes.

/// For BloomFilter. Reads num_keys, false_positive_rate, memory_bytes and scheme.
/// @source theory::false_positive_probability (Fan et al. 2000)
[[nodiscard]] TALLY_EXPORT BloomShape plan_bloom(const Requirements& requirements);

/// For BlockedBloomFilter: num_bits is a multiple of 512; at most 64 hashes are considered. Reads num_keys,
/// false_positive_rate and memory_bytes.
/// @source theory::blocked_bloom_false_positive_probability (after Putze et al. 2007)
[[nodiscard]] TALLY_EXPORT BlockedBloomShape plan_blocked_bloom(const Requirements& requirements);

/// For RegisterBlockedBloomFilter: the same with a number of hashes that is a multiple of 8, at most 64.
/// @source theory::register_bloom_false_positive_probability
[[nodiscard]] TALLY_EXPORT BlockedBloomShape plan_register_blocked_bloom(const Requirements& requirements);

/// For SharedDuplicateFilter: num_bits is a multiple of 64; at most 10 hashes. Reads num_keys, false_positive_rate and
/// memory_bytes.
/// @source theory::blocked_bloom_false_positive_probability (after Putze et al. 2007)
[[nodiscard]] TALLY_EXPORT DuplicateShape plan_duplicate(const Requirements& requirements);

/// For CountingBloomFilter. The rate is that of may_contain for a key that is not in the filter, and of at_least(theta)
/// for one that is in it fewer than theta times, whatever the multiplicities of the others. Reads num_keys,
/// false_positive_rate, memory_bytes, scheme, threshold, counter_bits, max_saturation_probability and lifetime_operations.
/// @source theory::false_positive_probability (Fan et al. 2000), theory::ln_mean_over_coinciding_positions for a theta above
///         1, and theory::expected_saturated_counters
[[nodiscard]] TALLY_EXPORT CountingBloomShape plan_counting_bloom(const Requirements& requirements);

/// For BlockedCountingBloomFilter: num_counters fills whole lines. At most 64 hashes are considered, and with counters of 4
/// bits 15, for which there are fast loops. The rate and the fields that it reads are those of plan_counting_bloom.
/// @source theory::blocked_bloom_false_positive_probability and theory::blocked_expected_saturated_counters
[[nodiscard]] TALLY_EXPORT BlockedCountingBloomShape
plan_blocked_counting_bloom(const Requirements& requirements);

/// For ThresholdFilter. Reads num_keys, false_positive_rate, memory_bytes, scheme, threshold, update, true_count,
/// num_insertions and histogram. For a true_count below theta - 1 without a histogram, num_insertions is by default
/// one per key; if memory and rate are given, the function solves for the number of insertions.
/// @source theory::false_positive_probability for true_count = theta - 1; else
///         theory::threshold_false_positive_probability (Kim et al. 2019, equation 2), or with a histogram
///         theory::ln_counter_upper_tail; theory::ln_mean_over_coinciding_positions of it
[[nodiscard]] TALLY_EXPORT ThresholdShape plan_threshold(const Requirements& requirements);

/// Plans a shape of this kind with the function for the kind and scheme (one above, plan_dleft, plan_compact_dleft,
/// plan_count_min or plan_count_min_two_hash), and with the scheme of the requirements or by default that of the kind.
/// The size is rounded to what the scheme can use: down if a memory is given, else up. Also throws std::invalid_argument for a
/// scheme that the kind does not support, and for a memory if a d-left filter would have to be rounded down.
[[nodiscard]] TALLY_EXPORT FilterShape plan_shape(FilterKind kind, const Requirements& requirements);

/// The largest number of distinct keys (0 if not even one) with which the filter meets the rate, in the sense that a
/// plan of its kind guarantees by default. A BlockedBloomShape is treated as that of a BlockedBloomFilter. For a
/// BlockedCountingBloomShape with a max_threshold above 1 and more than 24 hashes, it is that of absent keys. Throws
/// std::invalid_argument for a rate outside (0, 1) or an impossible shape.
TALLY_EXPORT std::uint64_t planned_num_keys(const BloomShape& shape, double false_positive_rate);
TALLY_EXPORT std::uint64_t planned_num_keys(const BlockedBloomShape& shape, double false_positive_rate);
TALLY_EXPORT std::uint64_t planned_num_keys(const DuplicateShape& shape, double false_positive_rate);
TALLY_EXPORT std::uint64_t planned_num_keys(const CountingBloomShape& shape, double false_positive_rate);
TALLY_EXPORT std::uint64_t planned_num_keys(const BlockedCountingBloomShape& shape,
                                            double false_positive_rate);
TALLY_EXPORT std::uint64_t planned_num_keys(const ThresholdShape& shape, double false_positive_rate);

/// The same for a filter of any kind, by the law of its scheme. Also throws std::invalid_argument for a sketch, which has no
/// such number.
TALLY_EXPORT std::uint64_t planned_num_keys(const FilterShape& shape, double false_positive_rate);

}  // namespace tally

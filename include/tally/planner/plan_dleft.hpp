#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally {

/// The default for the probability that a filter which is used as planned fills up.
inline constexpr double default_failure_probability = 1e-6;
/// The default life of a filter: after it is filled, every key is replaced this number of times. The maximum load
/// depends only on the logarithm of that number.
inline constexpr std::uint64_t default_replacements_per_key = 1000;

/// The default for the share of insertions that may move a key.
inline constexpr double default_moves_per_insertion = 0.15;

/// If keys repeat, a key that is not frequent is in the filter at most this number of times at once.
inline constexpr std::uint64_t dleft_common_key_count = 4;

/// For DLeftCountingBloomFilter with any bucket scheme: the best shape with 2, 3 or 4 subtables, 8, 16 or 32 cells
/// per bucket, counters of 0 to 4 bits, and the cells that Requirements::prefers_speed allows. Best means for keys
/// and rate: the lowest rate within 1% of the least memory; for keys and memory: the lowest rate; for memory and
/// rate: the most keys. Among equals the shape with the fewest subtables is chosen. It has
///
///   - a load of distinct fingerprints at which insertions move a key as often as max_moves_per_insertion allows and the
///     filter fills up with at most the failure probability, both at first and after the last doubling, when its keys are
///     divided at random; or the load that a table without moves can hold, if that is higher;
///   - a side table for the frequent keys, and for fingerprints whose shared count may exceed a cell: with the counts of
///     the histogram, or with num_insertions about equally often, or else with every key in the filter
///     dleft_common_key_count times (once if keys do not repeat). It is full at any time of the planned life with at most
///     1/1024 of the failure probability (theory::dleft_spills_tail), which the load leaves. Its capacity is as large as
///     its memory allows. If nothing is known about how often keys repeat, at least 64 entries are to spare;
///   - remainders of at least 4 bits after the last doubling.
///
/// With max_doublings, num_keys, memory_bytes and false_positive_rate are those of the first size. After s doublings and
/// with 2^s times the keys, the rate is 2^s times as high; to meet a rate at the last size, ask for it divided by
/// 2^max_doublings.
///
/// Reads num_keys (or histogram), false_positive_rate, memory_bytes, num_insertions, num_frequent_keys, keys_repeat,
/// lifetime_operations, failure_probability, max_moves_per_insertion, max_doublings, num_subtables and prefers_speed. Throws
/// std::invalid_argument for requirements out of range or that no such shape meets.
/// @source theory::dleft_false_positive_probability (Bonomi et al. 2006), theory::dleft_moves_limit,
/// theory::dleft_no_placement_bound; without moves theory::dleft_safe_load and experiments/dleft_few_buckets
[[nodiscard]] TALLY_EXPORT DLeftShape plan_dleft(const Requirements& requirements);

/// The largest number of distinct keys (0 if not even one) with which the filter, at its current size, meets the rate
/// and stays within the maximum load of plan_dleft, for the default life, failure probability and moves; for a shape that does
/// not search for moves, or whose buckets plan_dleft does not choose, within that of a table without moves. Throws
/// std::invalid_argument for a rate outside (0, 1) or an impossible shape.
TALLY_EXPORT std::uint64_t planned_num_keys(const DLeftShape& shape, double false_positive_rate);

/// The maximum load of a table without moves, as a share of its cells, for num_keys insertions and lifetime_operations
/// replacements. For many buckets theory::dleft_safe_load, from a table of its values; at most 0.2% below them. For few buckets less, by a
/// fit: a bound by measurement up to 16 to 64 buckets per subtable (no measurement contradicts it, with 99.9% limits for all
/// together), an assumption beyond; docs/theory.md has the law and its evidence. 1 if no bucket can overflow. Throws std::invalid_argument unless there are 2
/// to 4 subtables with at least 1 bucket each, and 8, 16 or 32 cells per bucket.
TALLY_EXPORT double planned_dleft_load(std::uint32_t num_subtables, std::uint64_t buckets_per_subtable,
                                       std::uint32_t cells_per_bucket, std::uint64_t num_keys,
                                       std::uint64_t lifetime_operations, double failure_probability);

/// The inverse: what the planner allows for the probability that any insertion of the life of such a table returns `full` if
/// this share of its cells is in use. 1 for loads that the table of values does not have, never below 1e-36. Throws as
/// planned_dleft_load, and for a load outside [0, 1].
TALLY_EXPORT double planned_dleft_failure_probability(std::uint32_t num_subtables,
                                                      std::uint64_t buckets_per_subtable,
                                                      std::uint32_t cells_per_bucket, std::uint64_t num_keys,
                                                      std::uint64_t lifetime_operations, double load);

}  // namespace tally

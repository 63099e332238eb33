#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tally/planner/plan_preference.hpp"
#include "tally/shapes/counter_update.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally {

/// What the user knows and wants: the argument of every function of the planner.
///
/// A field without a value is not given. For a value out of range the functions throw std::invalid_argument that
/// names the function, the field, the value and the range; 0 is in range only if the comment of the field includes
/// it. Each function reads the fields that its comment lists and ignores the others.
struct Requirements {
  // The size. Filters need exactly two of these three; the third follows.

  /// Number of distinct keys (at any one time, if keys are removed): 1 to 2^56; for d-left filters 1 to 2^40.
  std::optional<std::uint64_t> num_keys = {};
  /// Rate for a key that is not in the filter (for a threshold filter: below the threshold) when all keys are in it;
  /// in (0, 1). For d-left filters: before any doubling.
  std::optional<double> false_positive_rate = {};
  /// Memory of the structure, num_bytes(shape), which is never exceeded: at least 8, one word. For d-left filters:
  /// before any doubling.
  std::optional<std::uint64_t> memory_bytes = {};

  // What the structure is for.

  /// theta, in insertions of one key: 1 to 2^32 - 1. Threshold filters need it. For counting Bloom filters the largest
  /// theta that queries will use, at most the maximum of a counter. Default for all but threshold filters: 1.
  std::optional<std::uint64_t> threshold = {};
  bool needs_deletes = false;  ///< keys will be removed
  bool needs_counts = false;   ///< queries will ask for the count of a key
  /// Name of the scheme that calculates positions. Default: that of DefaultScheme.
  std::optional<std::string_view> scheme = {};
  /// How insertions raise counters. Default: plain. With conservative update, a histogram and a true_count below
  /// theta - 1, a threshold filter of theta up to 16 may be smaller: the rate then holds if the insertions come in random
  /// order. Otherwise the rate is that of plain counters, which conservative update never exceeds.
  std::optional<CounterUpdate> update = {};

  // What is known about the keys.

  /// Largest true count, below theta, for which the rate is guaranteed: 0 to theta - 1. Default: theta - 1. A false
  /// positive then needs another key on each of the k counters, as in a Bloom filter, however often keys repeat. A
  /// smaller value saves memory, but the rate then depends on how often keys repeat: on `histogram`, or else on
  /// num_insertions, each of a key drawn at random (all keys are inserted about equally often). 0 is the query of Kim et
  /// al. for keys that were never inserted.
  std::optional<std::uint64_t> true_count = {};
  /// Number of insertions of all keys: num_keys to 2^56. Not with a histogram, which contains it. For d-left filters: of
  /// those that are in the filter at any one time; if keys_repeat, all keys are then in it about equally often.
  std::optional<std::uint64_t> num_insertions = {};
  /// Instead of num_keys: the number of keys by count (theory::make_count_histogram). It must distinguish counts up to
  /// theta. For d-left filters: the number of keys by their count at any one time, instead of num_frequent_keys and
  /// keys_repeat too.
  std::optional<theory::CountHistogram> histogram = {};
  /// Number of keys that are in the filter more than dleft_common_key_count times at once: 0 to 2^31. Each takes an entry
  /// of the side table, in a compact filter too. All others may be in it up to that number of times; the plan has room for
  /// the fingerprints that they share. Default: 0, with 64 entries to spare if neither num_insertions nor a histogram is given.
  std::optional<std::uint64_t> num_frequent_keys = {};
  /// False: no key is ever in the filter twice at once. Then counters may be narrower than 2 bits, because they count
  /// only keys that share a fingerprint.
  bool keys_repeat = true;

  // How long the structure is used, and how often it may fail.

  /// Number of replacements (a removal of one insertion and an insertion) after the filter is filled, over its whole life.
  /// 0: it is only filled. Default: default_replacements_per_key times the number of keys; in plan(), 0 unless
  /// needs_deletes.
  std::optional<std::uint64_t> lifetime_operations = {};
  /// For sketches: error of an estimate, as a share of the sum of all weights; in (0, 1).
  std::optional<double> epsilon = {};
  /// For d-left filters: the probability that any insertion of its life returns `full`; 1e-15 to 0.5. Default:
  /// default_failure_probability. For compact d-left filters: that the side table is ever too small. For sketches: delta,
  /// the probability that an estimate is too high by more than epsilon; in (0, 1).
  std::optional<double> failure_probability = {};
  /// For sketches: the largest sum of all weights, at least 1. Counters are wide enough that none saturates. Default:
  /// 64 bits.
  std::optional<std::uint64_t> total_count = {};

  // What the planner chooses if it is not given.

  /// Width of a counter. Default for counting Bloom filters: the least width from 4 bits on that holds the threshold,
  /// meets max_saturation_probability if that is given, and leaves at most one counter in a million saturated after the
  /// planned life if every key is inserted once; plan() also counts known repeats if keys are replaced. For sketches 8, 16, 32 or 64, instead of total_count.
  std::optional<std::uint32_t> counter_bits = {};
  /// The largest probability that any counter saturates in the planned life if every key is inserted once; in (0, 1). A saturated counter
  /// stays at its maximum: it loses no key. Default: not limited.
  std::optional<double> max_saturation_probability = {};
  /// Number of times that a d-left filter may double when it is full. Every doubling makes room for twice as many
  /// keys, and with twice as many keys the false positive rate is twice as high: 2^max_doublings times
  /// false_positive_rate at the end. The candidates of plan() have the keys, memory and rate of every size
  /// (DLeftForecast::sizes). Default: 0.
  std::optional<std::uint32_t> max_doublings = {};
  /// The share of the insertions into a full d-left filter that may have to move another key, because all cells of their own
  /// buckets are in use: 0 to 0.5. Each costs as much as reading tens of lines, and a fuller filter takes less memory. 0: the
  /// filter is planned as if nothing were moved. Default: default_moves_per_insertion.
  std::optional<double> max_moves_per_insertion = {};
  /// For plan(): whether a d-left filter keeps false_positive_rate at its last size, with 2^max_doublings times the keys,
  /// and not only before any doubling.
  bool keeps_rate_when_doubled = false;
  /// Number of subtables of a d-left filter: 2, 3 or 4. A lookup reads one bucket of each. Default: whichever is best.
  std::optional<std::uint32_t> num_subtables = {};
  /// True: cells of 16 bits, the only ones with vector loops (DLeftForecast::has_fast_loops), are chosen if they meet
  /// the requirements with at most twice the memory, or at least half as many keys, as the best cells of any width;
  /// and plan() recommends other cells only if no other structure meets the requirements. False: cells of any width
  /// are chosen.
  bool prefers_speed = true;
  /// By what plan() orders the candidates. A candidate that may fill up though it is unknown how often keys repeat, one
  /// whose counters are likely to saturate, and one that promises its rate only for fewer true counts stay behind all
  /// others. Default: what `prefers_speed` describes, and otherwise the least memory of the kinds that suit best.
  std::optional<PlanPreference> preference = {};

  /// The threshold, or its default.
  std::uint64_t theta() const noexcept { return threshold.value_or(1); }
};

}  // namespace tally

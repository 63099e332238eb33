#pragma once

#include <cstdint>
#include <optional>

#include "tally/shapes/dleft.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally {

/// Largest chance by default that a filter which is used as planned is ever full.
inline constexpr double default_failure_probability = 1e-6;
/// What is planned for by default: every key of a full filter is replaced so often. The load that is carried
/// depends on the logarithm only.
inline constexpr std::uint64_t default_replacements_per_key = 1000;

/// A key that is not frequent is in it so often at once at most, where keys repeat.
inline constexpr std::uint64_t dleft_common_key_count = 4;

/// For DLeftCountingBloomFilter, under any bucket scheme. Exactly two of num_keys (or histogram),
/// false_positive_rate and memory_bytes; 0 is 'not given'.
struct DLeftRequest {
  std::uint64_t num_keys = 0;      ///< distinct keys in the filter at any one time: 1 to 2^40
  double false_positive_rate = 0;  ///< of a key that is not in it, with so many keys in it; in (0, 1)
  std::uint64_t memory_bytes =
      0;  ///< of cells and side table before any doubling, num_bytes(shape): a hard bound

  /// Keys that are in it oftener than dleft_common_key_count times at once: each has an entry in the side table. At
  /// most 2^31. All others may be in it as often as that, so there is room for the fingerprints that they share, too.
  std::uint64_t num_frequent_keys = 0;
  /// False: no key is ever in it twice at once. Counters narrower than 2 bits then come into question,
  /// because only keys that share a fingerprint are counted. True: they do not, since a key that is in it
  /// twice would spill.
  bool keys_repeat = true;
  /// In place of num_keys, num_frequent_keys and keys_repeat: how many keys are in it how often at once.
  std::optional<theory::CountHistogram> histogram = {};

  /// Insertions after it is filled, each after a remove, over its whole life. 0: it is filled once. By
  /// default default_replacements_per_key times the keys.
  std::optional<std::uint64_t> lifetime_operations = {};
  /// That any insertion of its life is answered 'full', were nothing ever moved: 1e-15 to 0.5.
  double failure_probability = default_failure_probability;

  /// How often the filter may double when it is full: 0 is never. Every doubling makes room for as many keys
  /// again and as many more errors.
  std::uint32_t max_doublings = 0;
  /// 2, 3 or 4: a lookup reads so many buckets. 0: whichever is best.
  std::uint32_t num_subtables = 0;

  /// Cells of 16 bits, which alone have loops with vector instructions (DLeftForecast::has_fast_loops), are taken where
  /// they meet the request with at most twice the memory, or at least half of the keys, that cells of any width do.
  /// False: cells of any width are.
  bool prefers_speed = true;
};

/// The best shape of 2, 3 or 4 subtables, 8, 16 or 32 cells a bucket, cells as DLeftRequest::prefers_speed says and
/// counters of 0 to 4 bits. For keys and rate: the lowest rate within 1% of the least memory. For keys and memory: the
/// lowest rate. For memory and rate: the most keys. Among equals the fewest subtables. It has
///
///   - a load of distinct fingerprints that a table without moves carries at the failure probability, as it
///     is and doubled to the end, where chance parts its keys. Moves are on all the same; they are a reserve that
///     is not counted on;
///   - a side table for the frequent keys, for the fingerprints whose keys together may be in it oftener
///     than a cell counts (expected from the histogram; else with every key in it dleft_common_key_count
///     times, or once if keys do not repeat), six standard deviations and 64 more; what fits in its
///     memory, in fact;
///   - remainders of 4 bits at least, when it is doubled to the end.
///
/// Throws std::invalid_argument for a request out of range or that no such shape meets.
/// @source theory::dleft_safe_load and theory::dleft_false_positive_probability (Bonomi et al. 2006)
DLeftShape plan_dleft(const DLeftRequest& request);

/// The most distinct keys (0 if not even one) with which the filter, as large as it is now, keeps the rate
/// and a load that it carries without moves through the default lifetime, at the default failure
/// probability.
/// Throws std::invalid_argument for a rate outside (0, 1) or an impossible shape.
std::uint64_t planned_num_keys(const DLeftShape& shape, double false_positive_rate);

/// The load that a table without moves carries, as a share of its cells: what theory::dleft_safe_load says
/// for num_keys insertions and so many replacements, from a table of its values; 0.2% below them at most. d
/// 2 to 4, 8, 16 or 32 cells a bucket, else std::invalid_argument; B buckets a subtable, at least 1.
double planned_dleft_load(std::uint32_t num_subtables, std::uint64_t buckets_per_subtable,
                          std::uint32_t cells_per_bucket, std::uint64_t num_keys,
                          std::uint64_t lifetime_operations, double failure_probability);

}  // namespace tally

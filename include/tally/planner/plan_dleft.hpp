#pragma once

#include <cstdint>

#include "tally/filters/dleft_shape.hpp"

namespace tally {

/// For DLeftCountingBloomFilter, under any bucket scheme.
struct DLeftRequest {
  std::uint64_t num_keys = 0;      ///< distinct keys in the filter at any one time: 1 to 2^40
  double false_positive_rate = 0;  ///< of a key that is not in it, with so many keys in it; in (0, 1)

  /// Of these, keys that are in it oftener than 4 times at once: each has an entry in the side table. At most 2^31.
  std::uint64_t num_frequent_keys = 0;

  /// How often the filter may double when it is full: 0 is never. Every doubling makes room for as many keys
  /// again and as many more errors.
  std::uint32_t max_doublings = 0;
};

/// The shape of least memory among 2 subtables of 32 cells a bucket and 4 of 8, with counters of 2 bits and
/// remainders of 6, 10, 14, 22 or 30. It has at least as many cells as keep the load at what a table without
/// moves carries with probability 1 - 10^-6, though moves are on; at least as many buckets as keep the rate; and
/// room in the side table for the frequent keys, for the fingerprints that more than 4 keys are expected to
/// share, six standard deviations and 64 more.
///
/// Throws std::invalid_argument for a request out of range or that no such shape meets.
/// @source theory::dleft_safe_load and theory::dleft_false_positive_probability (Bonomi et al. 2006)
DLeftShape plan_dleft(const DLeftRequest& request);

/// The most distinct keys (0 if not even one) with which the filter, as large as it is now, keeps the rate, and that
/// its cells carry as above. Throws std::invalid_argument for a rate outside (0, 1) or an impossible shape.
std::uint64_t planned_num_keys(const DLeftShape& shape, double false_positive_rate);

}  // namespace tally

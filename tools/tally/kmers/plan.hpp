#pragma once

#include <cstdint>

#include "kmers/options.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally::cli {

struct KmerPlan {
  ThresholdShape shape;
  std::uint64_t num_distinct = 0;
  double false_positive_rate = 0;  ///< at most, with that many distinct k-mers
};

/// The false positive rate of the options, or the default one.
double rate_or_default(const KmersOptions& options);

/// The filter for k-mers: the planner's, except that without a given memory it takes up to a tenth more
/// memory than the minimum if that saves hashes, because each hash costs a cache miss per k-mer. (At 1%: 4
/// hashes instead of 7.)
///
/// If neither the number of distinct k-mers nor a memory is given, the input is read once to count them.
/// Throws what plan_threshold and RewindableInput throw, and std::runtime_error if the count was interrupted.
KmerPlan plan_kmers(const KmersOptions& options, const KeyHasher& hasher);

}  // namespace tally::cli

#pragma once

#include <cstdint>

#include "kmers/options.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally::cli {

struct KmerPlan {
  ThresholdShape shape;
  std::uint64_t num_distinct = 0;
  double false_positive_rate = 0;  ///< at most, once so many distinct k-mers are in
};

/// The filter for k-mers: the planner's, but where no memory is given it takes up to a tenth more memory than the
/// least if that saves hashes, because each costs a cache miss a k-mer. (At 1%: 4 hashes in place of 7.)
///
/// Where neither the number of distinct k-mers nor a memory is given, the input is read once to count them.
/// Throws as plan_threshold and RewindableInput do, and std::runtime_error if it was interrupted then.
KmerPlan plan_kmers(const KmersOptions& options, const KeyHasher& hasher);

}  // namespace tally::cli

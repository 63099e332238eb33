#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "kmers/options.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/duplicate.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally::cli {

struct KmerPlan {
  std::variant<ThresholdShape, DuplicateShape> shape;
  std::uint64_t lower_count = 0;
  std::uint64_t num_distinct = 0;

  std::uint64_t num_bytes() const;
  /// At most, with this number of distinct k-mers.
  double false_positive_rate(std::uint64_t num_kmers) const;
  /// "494.6 M counters of 2 bits"
  std::string positions_text() const;
  std::uint32_t num_hashes() const;
};

/// The false positive rate of the options, or the default one.
double rate_or_default(const KmersOptions& options);

/// The filter for k-mers: that of the planner for thresholds, except that without a given memory it takes up to a tenth
/// more memory than the minimum if that saves hashes, because each hash costs a cache miss per k-mer. (At 1%: 4
/// hashes instead of 7.)
///
/// If k-mers are reported while they are read, from their second occurrence on, bits that say 'this k-mer was there'
/// are enough. Then it is a SharedDuplicateFilter, which costs one cache miss per k-mer, unless that takes more memory. (At 1%:
/// 12 bits per distinct k-mer instead of 21.)
///
/// If neither the number of distinct k-mers nor a memory is given, the input is read once to count them.
/// Throws what plan_threshold and RewindableInput throw, and std::runtime_error if the count was interrupted.
KmerPlan plan_kmers(const KmersOptions& options, const KeyHasher& hasher);

}  // namespace tally::cli

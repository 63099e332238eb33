#pragma once

#include <cstdint>
#include <optional>

#include "tally/filters/shapes.hpp"

namespace tally::cli {

/// What is known of the k-mers to come, as the options say it.
struct KmerRequest {
  std::uint64_t lower_count = 2;
  std::optional<std::uint64_t> num_distinct;
  std::optional<double> false_positive_rate;  ///< default 1%, or what num_distinct and memory_bytes give
  std::optional<std::uint64_t> memory_bytes;  ///< of the filter
};

struct KmerPlan {
  ThresholdShape shape;
  std::uint64_t num_distinct = 0;
  double false_positive_rate = 0;  ///< at most, once so many distinct k-mers are in
};

/// The filter for k-mers: the planner's, but where no memory is given it takes up to a tenth more memory than the
/// least if that saves hashes, because each costs a cache miss a k-mer. (At 1%: 4 hashes in place of 7.)
/// Throws std::invalid_argument as plan_threshold does.
KmerPlan plan_kmers(const KmerRequest& request);

}  // namespace tally::cli

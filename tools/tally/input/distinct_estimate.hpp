#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>

#include "tally/hashing/hash128.hpp"

namespace tally::cli {

/// An estimate of the number of distinct keys in a stream, from its 4096 smallest digests: exact below that
/// number, otherwise with a relative standard error of 1 / sqrt(4094), 1.6%.
/// Source: Bar-Yossef et al. 2002; the unbiased form: Beyer et al. 2007.
class DistinctEstimate {
 public:
  static constexpr std::size_t capacity = 4096;

  void insert(Hash128 digest) { insert_uniform(digest.high); }

  /// A number that is uniform over all keys and the same for every occurrence of a key.
  void insert_uniform(std::uint64_t number) {
    if (number >= limit_) return;
    smallest_.insert(number);
    if (smallest_.size() > capacity) smallest_.erase(std::prev(smallest_.end()));
    if (smallest_.size() == capacity) limit_ = *smallest_.rbegin();
  }

  /// As if the other's stream had been part of this one.
  void merge(const DistinctEstimate& other) {
    for (const std::uint64_t number : other.smallest_) insert_uniform(number);
  }

  double estimate() const {
    if (smallest_.size() < capacity) return static_cast<double>(smallest_.size());
    return (capacity - 1) * 0x1p64 / static_cast<double>(*smallest_.rbegin());
  }

  /// Four standard errors above the estimate: the truth is above this in one of about 30,000 streams.
  double upper_limit() const {
    return smallest_.size() < capacity ? estimate() : estimate() * (1 + 4 / 64.0);
  }

  /// The upper limit as a number of keys: at least 1, and at most the number of keys in the stream.
  std::uint64_t num_to_plan_for(std::uint64_t num_keys) const {
    const double most = std::min(upper_limit(), static_cast<double>(num_keys));
    return static_cast<std::uint64_t>(std::max(1.0, std::ceil(most)));
  }

 private:
  std::set<std::uint64_t> smallest_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace tally::cli

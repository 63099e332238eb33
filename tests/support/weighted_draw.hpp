#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "random.hpp"

namespace tally::test {

/// From 0 to below 1.
inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

/// Draws an index with a probability in proportion to its weight, by inversion of the sums of the weights.
class WeightedDraw {
 public:
  /// At least one weight, each at least 0.
  explicit WeightedDraw(std::vector<double> weights) : sums_(std::move(weights)) {
    for (std::size_t i = 1; i < sums_.size(); ++i) sums_[i] += sums_[i - 1];
  }
  /// Rank i, from 1 on, is drawn as index i - 1 with a probability in proportion to i^-exponent.
  static WeightedDraw by_zipf(std::uint64_t num_ranks, double exponent) {
    std::vector<double> weights(num_ranks);
    for (std::uint64_t i = 0; i < num_ranks; ++i)
      weights[i] = std::pow(static_cast<double>(i + 1), -exponent);
    return WeightedDraw(std::move(weights));
  }

  std::uint64_t operator()(Random& random) const {
    const double at = uniform(random) * sums_.back();
    return static_cast<std::uint64_t>(std::upper_bound(sums_.begin(), sums_.end() - 1, at) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

}  // namespace tally::test

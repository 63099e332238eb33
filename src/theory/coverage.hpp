#pragma once

// Shared by src/theory/bloom.cpp, blocked_bloom.cpp and register_bloom.cpp only.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "theory/detail.hpp"

namespace tally::theory::detail {

/// Pr(every position of a k-position query is hit) as throws fall one by one on m positions, exactly.
///
/// hit_[u] = Pr(u given positions are all hit) / scale^u. One more throw:
///     hit[u] <- (1 - u/m) hit[u] + (u/m) hit[u-1] / scale
/// distinct_[u] = Pr(the query has u distinct positions) scale^(u - k). Only positive terms are added, and
/// `scale` (about the final fill) with the exponents of Extended keeps small values from underflowing.
class CoverageChain {
 public:
  CoverageChain(std::uint64_t m, std::uint32_t k, double scale) : scale_(scale) {
    const auto positions = static_cast<Extended>(m);
    const auto largest = static_cast<std::size_t>(std::min<std::uint64_t>(m, k));
    hit_.assign(largest + 1, 0.0);
    hit_[0] = 1.0;
    distinct_ = hit_;
    for (std::uint32_t drawn = 0; drawn < k; ++drawn) {
      for (std::size_t u = largest; u > 0; --u) {
        const auto count = static_cast<Extended>(u);
        distinct_[u] = distinct_[u] * count / (positions * scale_) +
                       distinct_[u - 1] * (positions - count + 1) / positions;
      }
      distinct_[0] = 0.0;
    }
    stay_.resize(largest + 1);
    gain_.resize(largest + 1);
    for (std::size_t u = 0; u <= largest; ++u) {
      stay_[u] = (positions - static_cast<Extended>(u)) / positions;
      gain_[u] = static_cast<Extended>(u) / (positions * scale_);
    }
  }

  void throw_once() {
    for (std::size_t u = hit_.size() - 1; u > 0; --u) hit_[u] = stay_[u] * hit_[u] + gain_[u] * hit_[u - 1];
  }

  /// Pr(all positions of the query are hit) / scale^k.
  [[nodiscard]] Extended scaled_probability() const {
    Extended sum = 0.0;
    for (std::size_t u = 0; u < hit_.size(); ++u) sum += distinct_[u] * hit_[u];
    return sum;
  }

 private:
  Extended scale_;
  std::vector<Extended> hit_, distinct_, stay_, gain_;
};

}  // namespace tally::theory::detail

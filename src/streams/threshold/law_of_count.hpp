#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tally::detail {

/// The distribution of a count: entry s is the probability of s, the last entry that of its index and above.
using Law = std::vector<double>;

/// The distribution of the sum of two independent counts, with as many entries as `a` has.
inline Law law_of_sum(const Law& a, const Law& b) {
  Law sum(a.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sum[std::min(i + j, a.size() - 1)] += a[i] * b[j];
  }
  return sum;
}

}  // namespace tally::detail

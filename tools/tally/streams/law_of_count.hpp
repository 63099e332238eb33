#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tally::cli {

/// The law of a count: entry s is its probability, the last entry that of everything from there on.
using Law = std::vector<double>;

/// Of the sum of two counts that are independent, to as many entries as `a` has.
inline Law law_of_sum(const Law& a, const Law& b) {
  Law sum(a.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sum[std::min(i + j, a.size() - 1)] += a[i] * b[j];
  }
  return sum;
}

}  // namespace tally::cli

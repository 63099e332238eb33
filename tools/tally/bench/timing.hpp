#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>
#include <vector>

namespace tally::cli {

/// Of this thread, since it started: other programs on the machine add nothing to it.
inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The smallest value with at least this share of the values below it: 0 is the least, 0.5 the median, 1 the largest.
/// `values` must not be empty.
inline double quantile(std::vector<double> values, double share) {
  const auto wanted = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace tally::cli

#include "streams/threshold/law_of_count.hpp"

#include <algorithm>
#include <cstddef>

namespace tally::detail {
namespace {

constexpr double negligible = 1e-15;

}  // namespace

Law law_of_sum(const Law& a, const Law& b) {
  Law sum(a.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sum[std::min(i + j, a.size() - 1)] += a[i] * b[j];
  }
  return sum;
}

Law law_of_least_counter(const theory::CountHistogram& histogram, const ThresholdShape& shape,
                         std::uint64_t max_gap) {
  Law law(max_gap + 1);
  double at_least = 1;
  for (std::uint64_t s = 0; s <= max_gap; ++s) {
    const double more = s == max_gap ? 0
                                     : theory::compound_threshold_false_positive_probability(
                                           histogram, s + 1, shape.num_hashes, shape.num_counters);
    law[s] = std::max(0.0, at_least - more);
    at_least = more;
    if (more < negligible) break;
  }
  return law;
}

}  // namespace tally::detail

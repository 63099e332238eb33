#include "tally/planner/fewest_hashes.hpp"

#include <cmath>

#include "tally/theory/bloom.hpp"

namespace tally {
namespace {

// The least number of counters, up to a few in a million, with which this number of hashes meets the rate:
// m = -k n / ln(1 - p^(1/k)).
ThresholdShape with_hashes(ThresholdShape shape, std::uint32_t num_hashes, std::uint64_t num_keys,
                           double rate) {
  shape.num_hashes = num_hashes;
  const double fill = std::pow(rate, 1.0 / num_hashes);
  const double num_counters =
      std::ceil(-1.0 * num_hashes * static_cast<double>(num_keys) / std::log1p(-fill)) * (1 + 1e-6) + 2;
  shape.num_counters =
      num_counters < 0x1p56 ? static_cast<std::uint64_t>(num_counters) : std::uint64_t{1} << 56;
  return shape;
}

}  // namespace

ThresholdShape with_fewest_hashes(const ThresholdShape& least, std::uint64_t num_keys, double rate,
                                  double most_memory_factor) {
  const double most = static_cast<double>(least.num_counters) * most_memory_factor;
  for (std::uint32_t num_hashes = 1; num_hashes < least.num_hashes; ++num_hashes) {
    const ThresholdShape shape = with_hashes(least, num_hashes, num_keys, rate);
    if (static_cast<double>(shape.num_counters) <= most &&
        theory::false_positive_probability(shape.num_counters, shape.num_hashes, num_keys) <= rate)
      return shape;
  }
  return least;
}

}  // namespace tally

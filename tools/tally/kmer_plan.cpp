#include "kmer_plan.hpp"

#include <algorithm>
#include <cmath>

#include "tally/planner.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::cli {
namespace {

constexpr double default_rate = 0.01;
constexpr double most_memory_factor = 1.1;

double rate_of(const ThresholdShape& shape, std::uint64_t num_keys) {
  return theory::false_positive_probability(shape.num_counters, shape.num_hashes, num_keys);
}

// The least number of counters, up to a few in a million, with which so few hashes keep the rate:
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

ThresholdShape with_fewest_hashes(const ThresholdShape& least, std::uint64_t num_keys, double rate) {
  const double most = static_cast<double>(least.num_counters) * most_memory_factor;
  for (std::uint32_t num_hashes = 1; num_hashes < least.num_hashes; ++num_hashes) {
    const ThresholdShape shape = with_hashes(least, num_hashes, num_keys, rate);
    if (static_cast<double>(shape.num_counters) <= most && rate_of(shape, num_keys) <= rate) return shape;
  }
  return least;
}

}  // namespace

KmerPlan plan_kmers(const KmerRequest& request) {
  ThresholdRequest wanted{.threshold = request.lower_count};
  wanted.num_keys = request.num_distinct.value_or(0);
  wanted.memory_bytes = request.memory_bytes.value_or(0);
  if (!request.num_distinct || !request.memory_bytes)
    wanted.false_positive_rate = request.false_positive_rate.value_or(default_rate);
  KmerPlan plan;
  plan.shape = plan_threshold(wanted);
  plan.num_distinct = request.num_distinct ? *request.num_distinct
                                           : std::max<std::uint64_t>(
                                                 1, planned_num_keys(plan.shape, wanted.false_positive_rate));
  if (!request.memory_bytes)
    plan.shape = with_fewest_hashes(plan.shape, plan.num_distinct, wanted.false_positive_rate);
  plan.false_positive_rate = rate_of(plan.shape, plan.num_distinct);
  return plan;
}

}  // namespace tally::cli

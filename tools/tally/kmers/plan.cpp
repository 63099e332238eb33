#include "kmers/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/signals.hpp"
#include "input/distinct_estimate.hpp"
#include "input/rewindable_input.hpp"
#include "kmers/loop.hpp"
#include "shape/shape.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/planner/fewest_hashes.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::cli {
namespace {

constexpr double default_rate = 0.01;
constexpr double most_memory_factor = 1.1;

double rate_of(const ThresholdShape& shape, std::uint64_t num_keys) {
  return theory::false_positive_probability(shape.num_counters, shape.num_hashes, num_keys);
}

/// Only counts the distinct k-mers. The number that represents a k-mer always depends on the hash, so that no
/// choice of k-mers spoils the estimate.
class DistinctCounter {
 public:
  DistinctCounter(const KmersOptions& options, const KeyHasher& hasher, DistinctEstimate& estimate)
      : is_exact_(options.kmer_length <= max_exact_kmer_length),
        hasher_(hasher),
        salt_(hasher("salt of k-mers")),
        estimate_(&estimate) {}

  void operator()(Kmers kmers, Entries entries) {
    for (std::size_t i = 0; i < kmers.size(); ++i)
      estimate_->insert_uniform(is_exact_ ? salted(entries[i]) : hasher_(kmers[i]).high);
  }
  void end_piece() {}

 private:
  std::uint64_t salted(std::uint64_t entry) const { return mix64((entry ^ salt_.low) * (salt_.high | 1)); }

  bool is_exact_;
  KeyHasher hasher_;
  Hash128 salt_;
  DistinctEstimate* estimate_;
};

/// Reads the input once to count the distinct k-mers.
std::uint64_t count_distinct(const KmersOptions& options, const KeyHasher& hasher) {
  const RewindableInput input(options.files, "--size",
                              "k-mers; give --size, the number of distinct k-mers to plan for, or --memory");
  std::vector<DistinctEstimate> estimates(options.num_threads);  // one per thread
  std::atomic<std::size_t> num_started = 0;
  const KmerTotals totals = for_each_kmer_batch(
      options, [&] { return DistinctCounter(options, hasher, estimates[num_started++]); },
      [] { return std::string("in the pass that counts distinct ones"); });
  DistinctEstimate sum;
  for (const DistinctEstimate& estimate : estimates) sum.merge(estimate);
  if (stop_requested()) throw std::runtime_error("interrupted while the distinct k-mers were counted");
  input.rewind();
  remark(options.quiet,
         fmt::format("counted {} k-mers, about {:.0f} of them distinct (--size saves this pass)",
                     totals.num_kmers, sum.estimate()));
  return sum.num_to_plan_for(totals.num_kmers);
}

}  // namespace

double rate_or_default(const KmersOptions& options) {
  return options.false_positive_rate.value_or(default_rate);
}

KmerPlan plan_kmers(const KmersOptions& options, const KeyHasher& hasher) {
  ShapeOptions wanted{.kind = std::string(name_of(FilterKind::threshold))};
  wanted.wanted = {.num_keys = options.num_distinct,
                   .memory_bytes = options.memory_of_filter(),
                   .threshold = options.lower_count};
  if (!wanted.wanted.num_keys || !wanted.wanted.memory_bytes)
    wanted.wanted.false_positive_rate = rate_or_default(options);
  const Planned planned = shape_of(wanted, [&] { return count_distinct(options, hasher); });
  KmerPlan plan;
  plan.shape = std::get<ThresholdShape>(planned.shape.shape);
  plan.num_distinct = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(planned.num_keys));
  if (!wanted.wanted.memory_bytes)
    plan.shape = with_fewest_hashes(plan.shape, plan.num_distinct, *wanted.wanted.false_positive_rate,
                                    most_memory_factor);
  plan.false_positive_rate = rate_of(plan.shape, plan.num_distinct);
  remark(options.quiet,
         fmt::format("planned for {} distinct k-mers: {} counters of {} bits, k = {}, {}; a k-mer that "
                     "occurs fewer than {} times is selected with a probability of at most {}",
                     human_count(static_cast<double>(plan.num_distinct)),
                     human_count(static_cast<double>(plan.shape.num_counters)), counter_bits_for(plan.shape),
                     plan.shape.num_hashes, human_bytes(static_cast<double>(num_bytes(plan.shape))),
                     options.lower_count, human_rate(plan.false_positive_rate)));
  return plan;
}

}  // namespace tally::cli

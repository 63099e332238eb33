#include "kmers/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/signals.hpp"
#include "input/distinct_estimate.hpp"
#include "input/rewindable_input.hpp"
#include "kmers/loop.hpp"
#include "streams/fewest_hashes.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/planner.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::cli {
namespace {

constexpr double default_rate = 0.01;
constexpr double most_memory_factor = 1.1;

double rate_of(const ThresholdShape& shape, std::uint64_t num_keys) {
  return theory::false_positive_probability(shape.num_counters, shape.num_hashes, num_keys);
}

/// Only counts how many k-mers are distinct. What stands for a k-mer depends on the hash in every case, so that no
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

/// Reads the input once to tell how many k-mers are distinct.
std::uint64_t count_distinct(const KmersOptions& options, const KeyHasher& hasher) {
  const RewindableInput input(options.files, "--size",
                              "k-mers; say how many distinct ones to plan for with --size, or how much "
                              "memory to use with --memory");
  std::vector<DistinctEstimate> estimates(options.num_threads);  // a thread each
  std::atomic<std::size_t> num_started = 0;
  const KmerTotals totals = for_each_kmer_batch(
      options, [&] { return DistinctCounter(options, hasher, estimates[num_started++]); });
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

KmerPlan plan_kmers(const KmersOptions& options, const KeyHasher& hasher) {
  std::optional<std::uint64_t> num_distinct = options.num_distinct;
  const std::optional<std::uint64_t> memory_bytes = options.memory_of_filter();
  if (!num_distinct && !memory_bytes) num_distinct = count_distinct(options, hasher);
  ThresholdRequest wanted{.threshold = options.lower_count};
  wanted.num_keys = num_distinct.value_or(0);
  wanted.memory_bytes = memory_bytes.value_or(0);
  if (!num_distinct || !memory_bytes)
    wanted.false_positive_rate = options.false_positive_rate.value_or(default_rate);
  KmerPlan plan;
  plan.shape = plan_threshold(wanted);
  plan.num_distinct =
      num_distinct ? *num_distinct
                   : std::max<std::uint64_t>(1, planned_num_keys(plan.shape, wanted.false_positive_rate));
  if (!memory_bytes)
    plan.shape =
        with_fewest_hashes(plan.shape, plan.num_distinct, wanted.false_positive_rate, most_memory_factor);
  plan.false_positive_rate = rate_of(plan.shape, plan.num_distinct);
  remark(options.quiet,
         fmt::format(
             "planned for {} distinct k-mers: {} counters of {} bits, k = {}, {}; a k-mer seen fewer than "
             "{} times passes with probability at most {}",
             human_count(static_cast<double>(plan.num_distinct)),
             human_count(static_cast<double>(plan.shape.num_counters)), counter_bits_for(plan.shape),
             plan.shape.num_hashes, human_bytes(static_cast<double>(num_bytes(plan.shape))),
             options.lower_count, human_rate(plan.false_positive_rate)));
  return plan;
}

}  // namespace tally::cli

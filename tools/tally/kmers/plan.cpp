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
#include "tally/planner.hpp"
#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::cli {
namespace {

constexpr double default_rate = 0.01;
constexpr double most_memory_factor = 1.1;

// Below it, words of bits take more memory than counters.
constexpr double least_rate_of_bits = 1e-4;

/// Whether bits that say 'this k-mer was there' are enough, and small.
bool takes_bits(const KmersOptions& options, const Requirements& wanted) {
  return options.prints() && options.lower_count == 2 &&
         wanted.false_positive_rate.value_or(1) >= least_rate_of_bits;
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

std::uint64_t KmerPlan::num_bytes() const {
  return std::visit([](const auto& own) { return tally::num_bytes(own); }, shape);
}

double KmerPlan::false_positive_rate(std::uint64_t num_kmers) const {
  num_kmers = std::max<std::uint64_t>(1, num_kmers);
  if (const auto* bits = std::get_if<DuplicateShape>(&shape)) {
    return theory::blocked_bloom_false_positive_probability(bits->num_bits / DuplicateShape::bits_per_word,
                                                            DuplicateShape::bits_per_word, bits->num_hashes,
                                                            num_kmers);
  }
  const auto& counters = std::get<ThresholdShape>(shape);
  return theory::false_positive_probability(counters.num_counters, counters.num_hashes, num_kmers);
}

std::string KmerPlan::positions_text() const {
  if (const auto* bits = std::get_if<DuplicateShape>(&shape))
    return fmt::format("{} bits", human_count(static_cast<double>(bits->num_bits)));
  const auto& counters = std::get<ThresholdShape>(shape);
  return fmt::format("{} counters of {} bits", human_count(static_cast<double>(counters.num_counters)),
                     counter_bits_for(counters));
}

std::uint32_t KmerPlan::num_hashes() const {
  return std::visit([](const auto& own) { return own.num_hashes; }, shape);
}

KmerPlan plan_kmers(const KmersOptions& options, const KeyHasher& hasher) {
  ShapeOptions of_counters{.kind = std::string(name_of(FilterKind::threshold))};
  Requirements& wanted = of_counters.wanted;
  wanted = {.num_keys = options.num_distinct,
            .memory_bytes = options.memory_of_filter(),
            .threshold = options.lower_count};
  if (!wanted.num_keys || !wanted.memory_bytes) wanted.false_positive_rate = rate_or_default(options);
  const Planned planned = shape_of(of_counters, [&] { return count_distinct(options, hasher); });

  const auto counters = std::get<ThresholdShape>(planned.shape.shape);

  KmerPlan plan{counters, options.lower_count,
                std::max<std::uint64_t>(1, static_cast<std::uint64_t>(planned.num_keys))};
  if (!wanted.memory_bytes) wanted.num_keys = plan.num_distinct;
  if (takes_bits(options, wanted)) {
    const DuplicateShape bits = plan_duplicate(wanted);
    plan.shape = bits;
    if (!wanted.num_keys) plan.num_distinct = planned_num_keys(bits, *wanted.false_positive_rate);
  } else if (!wanted.memory_bytes) {
    plan.shape =
        with_fewest_hashes(counters, plan.num_distinct, *wanted.false_positive_rate, most_memory_factor);
  }
  remark(
      options.quiet,
      fmt::format("planned for {} distinct k-mers: {}, k = {}, {}; a k-mer that occurs fewer than {} times "
                  "is selected with a probability of at most {}",
                  human_count(static_cast<double>(plan.num_distinct)), plan.positions_text(),
                  plan.num_hashes(), human_bytes(static_cast<double>(plan.num_bytes())), options.lower_count,
                  human_rate(plan.false_positive_rate(plan.num_distinct))));
  return plan;
}

}  // namespace tally::cli

#include "tally/any_filter/promise.hpp"

#include <algorithm>
#include <cmath>

#include "tally/detail/parameter_error.hpp"
#include "tally/theory/confidence.hpp"

namespace tally {
namespace {

constexpr std::string_view judging = "judge_promise";

std::uint64_t num_distinct(const InsertionMix& mix) {
  std::uint64_t sum = mix.num_single_keys;
  for (const InsertionMix::Group& group : mix.groups) sum += group.true_count == 0 ? 0 : group.num_keys;
  return sum;
}

}  // namespace

std::string_view name_of(PromiseOutcome outcome) noexcept {
  switch (outcome) {
    case PromiseOutcome::kept:
      return "kept";
    case PromiseOutcome::broken:
      return "broken";
    case PromiseOutcome::unseen:
      return "unseen";
  }
  return "";
}

double noticed_rate(std::uint64_t most_accepted, std::uint64_t num_queries) {
  constexpr double two_sided = 0.8;  // a limit that is wrong in one of ten cases
  return theory::binomial_confidence_limits(std::min(most_accepted, num_queries), num_queries, two_sided)
      .high;
}

PromiseVerdict judge_promise(const SimulationResult& result, const Promise& promise, double confidence) {
  const double rate = promise.false_positive_rate;
  if (!(rate > 0 && rate < 1))
    detail::throw_parameter_error(judging, "false_positive_rate", rate, "above 0 and below 1");
  if (!(confidence > 0 && confidence < 1))
    detail::throw_parameter_error(judging, "confidence", confidence, "above 0 and below 1");
  const auto found = std::ranges::find(result.rates, promise.true_count, &MeasuredRate::true_count);
  if (found == result.rates.end() || found->num_queries == 0)
    detail::throw_parameter_error(judging, "true_count", promise.true_count, "one that was simulated");
  // A two-sided limit of this confidence is wrong on one side as often as the one-sided one.
  const double two_sided = std::max(2 * confidence - 1, 1e-12);
  const std::uint64_t num_queries = found->num_effective();
  PromiseVerdict verdict{promise, *found};
  const double passed = std::floor(static_cast<double>(found->num_passed) / found->design_effect);
  verdict.low = theory::binomial_confidence_limits(std::min(num_queries, static_cast<std::uint64_t>(passed)),
                                                   num_queries, two_sided)
                    .low;
  verdict.noticed_rate =
      noticed_rate(theory::binomial_acceptance_interval(rate, num_queries, two_sided).high, num_queries);
  const double ln_none = static_cast<double>(num_queries) * std::log1p(-rate);
  if (verdict.low > rate) {
    verdict.outcome = PromiseOutcome::broken;
  } else if (ln_none > std::log1p(-confidence)) {
    verdict.outcome = PromiseOutcome::unseen;
  }
  return verdict;
}

std::uint64_t insertions_of_distinct_keys(SimulationPlan plan, std::uint64_t num_keys) {
  const auto distinct_with = [&plan](std::uint64_t num_insertions) {
    plan.num_insertions = num_insertions;
    return num_distinct(insertion_mix(plan));
  };
  std::uint64_t found = num_keys;
  // Each step adds what is missing; a tenth of the insertions at most are repeats.
  for (int step = 0; step < 16; ++step) {
    const std::uint64_t distinct = distinct_with(found);
    if (distinct >= num_keys) break;
    found += num_keys - distinct;
  }
  while (found > num_keys && distinct_with(found) > num_keys) --found;
  return found;
}

}  // namespace tally

#include "tally/any_filter/verification.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <variant>

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

constexpr std::uint64_t insertions_by_default = 20'000'000;  // in all trials together: takes a few seconds
constexpr double passes_by_default = 1000;
constexpr double least_queries = 100;
constexpr double most_queries = 10'000'000;  // per trial
constexpr std::uint64_t most_simulated_threshold = 10'000;
constexpr std::uint64_t most_wanted = std::uint64_t{1} << 40;  // what simulate allows
constexpr std::string_view planning = "plan_simulation";

double predicted_rate_of_absent(const SimulationPlan& plan) {
  return std::exp(predicted_law(plan, insertion_mix(plan), 0).ln_false_positive_rate);
}

/// The least count that few absent keys reach, by bisection.
std::uint64_t rarely_reached_count(SimulationPlan plan) {
  constexpr double few = 0.1;
  plan.threshold = 1;
  const InsertionMix all_once = insertion_mix(plan);
  const auto passes = [&](std::uint64_t theta) {
    plan.threshold = theta;
    return std::exp(predicted_law(plan, all_once, 0).ln_false_positive_rate) > few;
  };
  std::uint64_t least = 1;
  for (std::uint64_t end = most_simulated_threshold + 1; least < end;) {
    const std::uint64_t middle = least + (end - least) / 2;
    passes(middle) ? least = middle + 1 : end = middle;
  }
  if (least > most_simulated_threshold)
    detail::throw_parameter_error(planning, "num_insertions", plan.num_insertions,
                                  "smaller: the counts of more than 10% of the absent keys reach 10000");
  return least;
}

std::uint64_t threshold_of(const SimulationPlan& plan, std::optional<std::uint64_t> wanted) {
  if (plan.shape.kind() == FilterKind::count_min) {
    if (!wanted) return rarely_reached_count(plan);
    detail::require_in_range(planning, "threshold", *wanted, 1, most_simulated_threshold);
    return *wanted;
  }
  const std::uint64_t own = plan.shape.made_for_theta().value_or(1);
  if (own > most_simulated_threshold)
    detail::throw_parameter_error(planning, "threshold of the shape", own,
                                  "1 to 10000; give a filter with a smaller one");
  if (wanted && *wanted != own)
    detail::throw_parameter_error(planning, "threshold", *wanted,
                                  std::to_string(own) + ", that of the shape; leave it out");
  return own;
}

}  // namespace

SimulationPlan plan_simulation(const FilterShape& shape, std::uint64_t num_insertions,
                               const SimulationWishes& wishes) {
  check_shape(shape);
  detail::require_in_range(planning, "num_insertions", num_insertions, 1, max_num_positions);
  if (wishes.num_trials) detail::require_in_range(planning, "num_trials", *wishes.num_trials, 1, most_wanted);
  if (wishes.num_queries)
    detail::require_in_range(planning, "num_queries", *wishes.num_queries, 1, most_wanted);
  SimulationPlan plan{
      .shape = shape, .num_insertions = num_insertions, .seed = wishes.seed, .should_stop = {}};
  plan.threshold = threshold_of(plan, wishes.threshold);
  plan.num_trials =
      wishes.num_trials.value_or(std::clamp<std::uint64_t>(insertions_by_default / num_insertions, 20, 1000));
  if (wishes.num_queries) {
    plan.num_queries = *wishes.num_queries;
  } else {
    const double wanted = passes_by_default / std::max(predicted_rate_of_absent(plan), 1e-300) /
                          static_cast<double>(plan.num_trials);
    plan.num_queries = static_cast<std::uint64_t>(std::clamp(wanted, least_queries, most_queries));
  }
  return plan;
}

bool is_upper_bound(const FilterShape& shape) noexcept {
  return std::visit(
      [](const auto& own) {
        if constexpr (requires { own.update; }) return own.update == CounterUpdate::conservative;
        return false;
      },
      shape.shape);
}

std::vector<Verdict> judge(const SimulationPlan& plan, const SimulationResult& result, double confidence) {
  const InsertionMix mix = insertion_mix(plan);
  std::vector<Verdict> verdicts;
  for (const MeasuredRate& rate : result.rates) {
    const SchemeLaw law = predicted_law(plan, mix, rate.true_count);
    Verdict verdict{rate, std::exp(law.ln_false_positive_rate), law.kind, {}, false};
    const double effective =
        std::max(1.0, std::floor(static_cast<double>(rate.num_queries) / rate.design_effect));
    const auto trials = static_cast<std::uint64_t>(effective);
    const double scaled = static_cast<double>(rate.num_passed) / rate.design_effect;
    const auto limits = [&](double passed) {
      return theory::binomial_confidence_limits(std::min(trials, static_cast<std::uint64_t>(passed)), trials,
                                                confidence);
    };
    verdict.limits = {limits(std::floor(scaled)).low, limits(std::ceil(scaled)).high};
    const bool not_above = verdict.limits.low <= verdict.predicted;
    const bool not_below = verdict.predicted <= verdict.limits.high || is_upper_bound(plan.shape);
    verdict.inside = not_above && not_below;
    verdicts.push_back(verdict);
  }
  return verdicts;
}

Verification verify(const SimulationPlan& plan, double confidence) {
  // Closer to 1, the confidence of a single rate would round to 1.
  if (!(confidence > 0 && confidence <= 1 - 1e-12))
    detail::throw_parameter_error("verify", "confidence", confidence, "above 0 and at most 1 - 1e-12");
  Verification verification{plan, simulate(plan), {}};
  const SimulationResult& result = verification.result;
  if (result.was_full || result.rates.front().num_queries == 0) return verification;
  const double each = theory::per_test_confidence(confidence, result.rates.size());
  verification.verdicts = judge(plan, result, each);
  return verification;
}

}  // namespace tally

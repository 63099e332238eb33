#include "tally/any_filter/verification.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <variant>

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

constexpr std::uint64_t insertions_by_default = 20'000'000;  // in all trials together: takes a few seconds
constexpr std::uint64_t least_trials = 5;
constexpr std::uint64_t most_trials = 1'000'000;
constexpr double passes_by_default = 1000;
constexpr double least_queries = 100;
constexpr double most_queries = 10'000'000;  // per trial
constexpr std::uint64_t most_simulated_threshold = 10'000;
constexpr std::uint64_t most_wanted = std::uint64_t{1} << 40;  // what simulate allows
constexpr std::string_view planning = "plan_simulation";

double predicted_rate(const SimulationPlan& plan, std::uint64_t true_count) {
  const double rate = std::exp(predicted_law(plan, insertion_mix(plan), true_count).ln_false_positive_rate);
  return std::max(rate, 1e-300);
}

/// With fewer expected false positives, none at all would hardly contradict the formula.
constexpr double fewest_to_be_seen = 10;

double seconds_of_one_trial(SimulationPlan plan) {
  plan.num_trials = 1;
  return simulation_seconds(plan);
}

/// Enough for the rates of keys that were inserted; as many as take half of the time at most, without queries for others.
std::uint64_t usual_trials(const SimulationPlan& plan, double seconds) {
  const auto usual = std::clamp<std::uint64_t>(insertions_by_default / plan.num_insertions, 20, 1000);
  double wanted = static_cast<double>(usual);
  if (plan.threshold > 1) {
    const InsertionMix mix = insertion_mix(plan);
    const auto highest = std::ranges::find(mix.groups, plan.threshold - 1, &InsertionMix::Group::true_count);
    const double passes = static_cast<double>(highest->num_keys) * predicted_rate(plan, plan.threshold - 1);
    // If even all the time does not show the rate, more trials would be wasted.
    const double needed = passes_by_default / passes;
    const double possible = seconds / 2 / seconds_of_one_trial(plan);
    if (passes * possible >= fewest_to_be_seen) wanted = std::max(wanted, needed);
  }
  const double most = std::floor(seconds / 2 / seconds_of_one_trial(plan));
  return static_cast<std::uint64_t>(std::clamp(std::min(wanted, most), static_cast<double>(least_trials),
                                               static_cast<double>(most_trials)));
}

/// Enough for the rate of absent keys; as many as take the rest of the time at most, and a tenth of these if they would not
/// do.
std::uint64_t usual_queries(const SimulationPlan& plan, double seconds) {
  const auto num_trials = static_cast<double>(plan.num_trials);
  const double rate = predicted_rate(plan, 0);
  const double wanted = passes_by_default / rate / num_trials;
  SimulationPlan with_queries = plan;
  constexpr std::uint64_t some = 1'000'000;
  with_queries.num_queries = some;
  const double without = seconds_of_one_trial(plan);
  const double of_query = (seconds_of_one_trial(with_queries) - without) / static_cast<double>(some);
  const double left = std::max(seconds / 4, seconds - num_trials * without);
  double possible = left / num_trials / of_query;
  if (wanted > possible && possible * num_trials * rate < fewest_to_be_seen) possible /= 10;
  return static_cast<std::uint64_t>(std::clamp(std::min(wanted, possible), least_queries, most_queries));
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
  if (!(wishes.seconds > 0)) detail::throw_parameter_error(planning, "seconds", wishes.seconds, "above 0");
  SimulationPlan plan{
      .shape = shape, .num_insertions = num_insertions, .seed = wishes.seed, .should_stop = {}};
  plan.threshold = threshold_of(plan, wishes.threshold);
  plan.num_trials = wishes.num_trials ? *wishes.num_trials : usual_trials(plan, wishes.seconds);
  plan.num_queries = wishes.num_queries ? *wishes.num_queries : usual_queries(plan, wishes.seconds);
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
    const std::uint64_t trials = rate.num_effective();
    const double scaled = static_cast<double>(rate.num_passed) / rate.design_effect;
    const auto limits = [&](double passed) {
      return theory::binomial_confidence_limits(std::min(trials, static_cast<std::uint64_t>(passed)), trials,
                                                confidence);
    };
    verdict.limits = {limits(std::floor(scaled)).low, limits(std::ceil(scaled)).high};
    const bool not_above = verdict.limits.low <= verdict.predicted;
    const bool not_below = verdict.predicted <= verdict.limits.high || is_upper_bound(plan.shape);
    verdict.inside = not_above && not_below;
    const double predicted = std::min(verdict.predicted, 1.0);
    verdict.noticed_rate =
        noticed_rate(theory::binomial_acceptance_interval(predicted, trials, confidence).high, trials);
    verdict.is_seen = limits(0).high < predicted;
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

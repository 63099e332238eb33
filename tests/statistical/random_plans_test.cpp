// Plans are tried: requests drawn at random, what is planned built, and driven with random keys to its promise. Each test is
// one-sided or two-sided at 99.9% for all plans together. A plan that fails is printed as a command, with its structure.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/expect_rates.hpp"
#include "support/plan_request.hpp"
#include "support/planned_filter.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/planner.hpp"
#include "tally/planner/scheme_law.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

/// How much each plan is tried.
struct Effort {
  std::uint64_t num_plans;
  double most_keys;
  std::uint64_t num_operations;  ///< insertions and removals of all filters of a plan
  std::uint64_t num_queries;     ///< to all filters of a plan
  unsigned num_threads;
};

/// A plan that was tried, and what it promised.
struct TriedPlan {
  std::string name;
  std::string structure;
  double promised = 0;              ///< rate
  MeasuredRate absent{1};           ///< of keys that were never inserted
  std::optional<double> predicted;  ///< of absent keys, if the law is exact
  std::optional<MeasuredRate> below_threshold;
  double failure_probability = 0;
  std::uint64_t num_filters = 0;
  std::uint64_t num_refusing = 0;  ///< filters that refused an insertion
  std::string fault;               ///< what may never be, or nothing
};

std::uint64_t filters_for(std::uint64_t num_operations, std::uint64_t operations_of_one) {
  return std::clamp<std::uint64_t>(num_operations / std::max<std::uint64_t>(1, operations_of_one), 2, 4000);
}

/// Enough for some hundred false positives, if there is time.
std::uint64_t queries_of_one(double promised, const Effort& effort, std::uint64_t num_filters) {
  const double enough = std::max(400 / promised, 50.0 * static_cast<double>(num_filters));
  return static_cast<std::uint64_t>(std::min(enough, static_cast<double>(effort.num_queries))) / num_filters;
}

/// Whether keys are removed again: never where the planner does not know how often they come and counters may saturate,
/// which the plan warns of.
bool is_replaced(const PlanRequest& request, const PlannedFilter& filter) {
  return request.requirements.needs_deletes && filter.filter().can_remove() &&
         (filter.filter().can_fill_up() || request.counts_are_known());
}

/// How many keys are replaced in a life as long as planned, or as long as there is time for.
std::uint64_t num_replaced(const PlanRequest& request, std::uint64_t num_keys, std::uint64_t num_insertions,
                           std::uint64_t num_operations) {
  const std::uint64_t planned =
      request.requirements.lifetime_operations.value_or(default_replacements_per_key * num_keys);
  const double keys_of = static_cast<double>(num_keys) / static_cast<double>(num_insertions);
  return std::min(
      num_keys, static_cast<std::uint64_t>(static_cast<double>(std::min(planned, num_operations)) * keys_of));
}

void try_candidate(const PlanRequest& request, const Candidate& candidate, std::uint64_t seed,
                   const Effort& effort, TriedPlan& tried) {
  const Requirements& wanted = request.requirements;
  const std::uint32_t num_doublings = PlannedFilter::num_doublings_of(request, candidate);
  const std::uint64_t num_keys = candidate.num_keys << num_doublings;
  std::uint64_t num_insertions = 0;
  for (std::uint64_t key = 0; key < num_keys; ++key) num_insertions += request.count_of(key);
  tried.num_filters = filters_for(effort.num_operations, num_insertions);
  // What the plan says of itself binds it, which is never more than was wanted.
  tried.failure_probability = candidate.dleft ? candidate.dleft->failure_probability : 0;
  tried.promised = candidate.false_positive_rate;
  if (wanted.false_positive_rate && tried.promised > *wanted.false_positive_rate * (1 + 1e-12))
    tried.fault = fmt::format("predicts {}", tried.promised);
  double rate_of_absent = candidate.errors.front().false_positive_rate;
  if (num_doublings != 0) {
    rate_of_absent = candidate.dleft->sizes.back().false_positive_rate;
    tried.promised = std::max(tried.promised, rate_of_absent);
  }
  if (wanted.memory_bytes && candidate.shape.num_bytes() > *wanted.memory_bytes) tried.fault = "too large";
  // The laws of double hashing have a margin.
  const bool is_exact = !double_hashing_of(candidate.shape.scheme_id);
  if (wanted.theta() == 1 && is_exact && rate_of_absent >= 1e-3) tried.predicted = rate_of_absent;

  const std::uint64_t num_queries = queries_of_one(std::min(tried.promised, 1.0), effort, tried.num_filters);
  tried.absent = MeasuredRate(num_queries);
  for (std::uint64_t i = 0; i < tried.num_filters; ++i) {
    PlannedFilter filter(request, candidate, 1000 * seed + i);
    if (filter.num_bytes() != candidate.shape.num_bytes()) tried.fault = "has another size";
    std::uint64_t num_refused = filter.fill();
    if (num_refused == 0 && is_replaced(request, filter))
      num_refused = filter.replace(
          num_replaced(request, num_keys, num_insertions, effort.num_operations / tried.num_filters + 1));
    tried.num_refusing += num_refused != 0;
    if (num_refused != 0) {
      tried.structure += ", " + filter.state();
    } else if (i < 4 && filter.num_missed() != 0) {
      tried.fault = "has a false negative";
    }
    tried.absent.add_filter(filter.num_false(num_queries));
    if (wanted.theta() == 1 || candidate.promised_true_count == 0) continue;
    const std::vector<Hash128> keys =
        filter.keys_up_to(std::min(candidate.promised_true_count, wanted.theta() - 1));
    if (keys.empty()) continue;
    if (!tried.below_threshold) tried.below_threshold.emplace(keys.size());
    tried.below_threshold->add_filter(filter.num_at_threshold(keys), keys.size());
  }
}

std::optional<TriedPlan> try_filter_plan(std::uint64_t seed, const Effort& effort) {
  const PlanRequest request = random_plan_request(seed, effort.most_keys);
  const std::optional<Plan> found = plan_if_any(request.requirements);
  if (!found) return std::nullopt;
  const Candidate& candidate = found->candidates[Random(~seed).below(found->candidates.size())];
  const std::uint64_t num_keys = candidate.num_keys << PlannedFilter::num_doublings_of(request, candidate);
  if (static_cast<double>(num_keys) > 4 * effort.most_keys)
    return std::nullopt;  // memory is large for the rate
  if (candidate.shape.num_bytes() > most_bytes) return std::nullopt;
  TriedPlan tried;
  tried.structure = candidate.name();
  tried.name = fmt::format("{}   # {} for {} keys, seed {}", request.command_line(), candidate.name(),
                           candidate.num_keys, seed);
  try_candidate(request, candidate, seed, effort, tried);
  return tried;
}

/// A sketch, and a stream of keys of which some may be frequent: the share of the estimates with an error above epsilon.
std::optional<TriedPlan> try_sketch_plan(std::uint64_t seed, const Effort& effort) {
  Random random(seed);
  const std::uint64_t given = random.below(3);
  Requirements wanted;
  if (given != 0) wanted.epsilon = log_uniform(random, 1e-4, 0.2);
  if (given != 1) wanted.failure_probability = log_uniform(random, 1e-4, 0.5);
  if (given != 2) wanted.memory_bytes = static_cast<std::uint64_t>(log_uniform(random, 64, 1e6));
  if (one_in(random, 3)) wanted.update = CounterUpdate::conservative;
  const auto num_keys = static_cast<std::uint64_t>(log_uniform(random, 1, 20'000));
  const double exponent = log_uniform(random, 0.05, 2);
  std::vector<std::uint64_t> counts;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < num_keys; ++i) {
    counts.push_back(1 + static_cast<std::uint64_t>(1000 * std::pow(static_cast<double>(i + 1), -exponent)));
    total += counts.back();
  }
  if (one_in(random, 2)) wanted.total_count = total;
  wanted.scheme = one_in(random, 2) ? TwoHashRows::name : DefaultRows::name;
  TriedPlan tried;
  tried.structure = fmt::format("count-min {}", *wanted.scheme);
  PlanRequest request{wanted, {}};
  request.requirements.scheme.reset();
  tried.name = request.command_line();
  if (wanted.epsilon) tried.name += fmt::format(" --epsilon {}", *wanted.epsilon);
  if (wanted.total_count) tried.name += fmt::format(" --total-count {}", total);
  tried.name +=
      fmt::format("   # {} rows, {} keys, exponent {}, seed {}", *wanted.scheme, num_keys, exponent, seed);
  std::optional<FilterShape> shape;
  try {
    shape = plan_shape(FilterKind::count_min, wanted);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (wanted.memory_bytes && shape->num_bytes() > *wanted.memory_bytes) tried.fault = "too large";
  tried.num_filters = filters_for(effort.num_operations, total);
  std::vector<Hash128> keys(num_keys + 1000);
  std::vector<Count> results(keys.size());
  tried.absent = MeasuredRate(keys.size());
  for (std::uint64_t i = 0; i < tried.num_filters; ++i) {
    AnyFilter sketch(*shape, 1000 * seed + i);
    for (std::uint64_t key = 0; key < keys.size(); ++key) keys[key] = sketch.hasher()(key);
    if (wanted.update == CounterUpdate::conservative) {
      std::uint64_t left = total;
      for (std::uint64_t round = 0; left != 0; ++round)
        for (std::uint64_t key = 0; key < num_keys; ++key)
          if (counts[key] > round) {
            (void)sketch.insert(key);
            --left;
          }
    } else {
      sketch.add_batch(std::span(keys).first(num_keys), counts);
    }
    const CountMinBound bound = *sketch.count_min_bound();
    tried.promised = bound.failure_probability;
    if (wanted.epsilon && bound.epsilon > *wanted.epsilon * (1 + 1e-12)) tried.fault = "has a larger epsilon";
    if (wanted.failure_probability && bound.failure_probability > *wanted.failure_probability * (1 + 1e-12))
      tried.fault = "fails more often than wanted";
    sketch.count_batch(keys, results);
    std::uint64_t num_wrong = 0;
    for (std::uint64_t key = 0; key < keys.size(); ++key) {
      const std::uint64_t count = key < num_keys ? counts[key] : 0;
      if (results[key].value < count) tried.fault = "counts too few";
      num_wrong +=
          static_cast<double>(results[key].value - count) > bound.epsilon * static_cast<double>(total);
    }
    tried.absent.add_filter(num_wrong);
  }
  return tried;
}

std::optional<TriedPlan> try_plan(std::uint64_t seed, const Effort& effort) {
  return seed % 8 == 0 ? try_sketch_plan(seed, effort) : try_filter_plan(seed, effort);
}

std::vector<TriedPlan> try_plans(std::uint64_t first_seed, const Effort& effort) {
  std::vector<std::vector<TriedPlan>> of_threads(effort.num_threads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < effort.num_threads; ++t) {
    threads.emplace_back([&, t] {
      const std::uint64_t wanted = effort.num_plans / effort.num_threads;
      for (std::uint64_t seed = first_seed + t; of_threads[t].size() < wanted; seed += effort.num_threads)
        if (std::optional<TriedPlan> tried = try_plan(seed, effort))
          of_threads[t].push_back(std::move(*tried));
    });
  }
  std::vector<TriedPlan> all;
  for (unsigned t = 0; t < effort.num_threads; ++t) {
    threads[t].join();
    std::ranges::move(of_threads[t], std::back_inserter(all));
  }
  return all;
}

/// No filter refuses more often than it may: 99.9% for all plans together.
void expect_few_refusals(const std::vector<TriedPlan>& plans) {
  const double two_sided = 1 - 2 * (1 - theory::per_test_confidence(family_confidence, plans.size()));
  for (const TriedPlan& tried : plans) {
    EXPECT_LE(
        tried.num_refusing,
        theory::binomial_acceptance_interval(tried.failure_probability, tried.num_filters, two_sided).high)
        << tried.name << ": of " << tried.num_filters << " filters; P(full) is " << tried.failure_probability
        << tried.structure;
  }
}

void expect_promises_kept(std::uint64_t first_seed, const Effort& effort) {
  const std::vector<TriedPlan> plans = try_plans(first_seed, effort);
  std::vector<Cell> bounded;
  std::vector<Cell> predicted;
  std::map<std::string, std::uint64_t> plans_of;
  std::uint64_t num_filters = 0;
  for (const TriedPlan& tried : plans) {
    EXPECT_EQ(tried.fault, "") << tried.name;
    bounded.push_back({tried.name, tried.promised, tried.absent});
    if (tried.predicted) predicted.push_back({tried.name, *tried.predicted, tried.absent});
    if (tried.below_threshold)
      bounded.push_back({tried.name + ", keys below the threshold", tried.promised, *tried.below_threshold});
    ++plans_of[tried.structure.substr(0, tried.structure.find_first_of(" ,"))];
    num_filters += tried.num_filters;
  }
  expect_few_refusals(plans);
  expect_at_most_predicted(bounded);
  if (!predicted.empty()) expect_predicted(predicted);  // not of every few plans
  std::string structures;
  for (const auto& [name, number] : plans_of) structures += fmt::format(" {} {}", number, name);
  fmt::print("{} plans from seed {}, {} filters:{}\n", plans.size(), first_seed, num_filters, structures);
}

std::uint64_t number_from(const char* variable, std::uint64_t usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::stoull(text);
}

TEST(RandomPlans, KeepTheirPromises) { expect_promises_kept(1, {300, 3e5, 200'000, 500'000, 1}); }

// Ten thousand of up to ten million keys: TALLY_PLANS from the seed TALLY_SEED on (script/test --slow --plans N --seed N).
TEST(RandomPlans, SlowKeepTheirPromisesByTheThousand) {
  expect_promises_kept(number_from("TALLY_SEED", 1),
                       {number_from("TALLY_PLANS", 10'000), 1e7, 1'000'000, 2'000'000,
                        std::max(1u, std::thread::hardware_concurrency())});
}

}  // namespace
}  // namespace tally::test

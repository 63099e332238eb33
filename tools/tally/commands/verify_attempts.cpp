#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "commands/verify.hpp"
#include "files/filter_file.hpp"
#include "shape/flags.hpp"
#include "shape/kinds.hpp"
#include "shape/scheme_option.hpp"
#include "shape/shape.hpp"
#include "tally/any_filter.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/planner.hpp"
#include "tally/sketches/count_min_bound.hpp"

namespace tally::cli {
namespace {

constexpr double largest_threshold = 10'000;  // of a simulation

FilterKind kind_of(const VerifyOptions& options) { return options.shape.kind_or_default(); }

/// The schemes to verify: one, or all of the kind.
std::vector<std::string> schemes_of(const VerifyOptions& options) {
  if (options.shape.scheme != every_scheme || !options.file.empty()) return {options.shape.scheme};
  const std::vector<std::string> names = scheme_names(kind_of(options));
  if (names.size() > 1) return names;
  throw std::invalid_argument(
      fmt::format("--scheme: a {} filter has only one scheme; leave it out", name_of(kind_of(options))));
}

/// Throws for flags that would have no effect.
void check_flags_of(FilterKind kind, const VerifyOptions& options) {
  const Requirements& wanted = options.shape.wanted;
  if (wanted.counter_bits && !is_counting_bloom(kind)) {
    throw std::invalid_argument(fmt::format(
        "--counter-bits: it has no effect on a {} filter in this command; leave it out, or use --kind {} or "
        "{}",
        name_of(kind), name_of(FilterKind::counting_bloom), name_of(FilterKind::blocked_counting_bloom)));
  }
  if (wanted.update && (kind_of_shape(kind).flag_groups & update_flag) == 0) {
    throw std::invalid_argument(
        fmt::format("--conservative: it has no effect on a {} filter; leave it out, or use --kind {}",
                    name_of(kind), kinds_with(update_flag)));
  }
}

/// The exact shape that the flags give, or a planned one for keys and a rate. If all schemes are verified, a number of
/// positions that one of them cannot use is rounded down to one that it can use.
FilterShape shape_of(const VerifyOptions& options, const std::string& scheme) {
  const FilterKind kind = kind_of(options);
  check_flags_of(kind, options);
  ShapeOptions shape = options.shape;
  shape.scheme = scheme;
  shape.rounds_exact_shape = options.shape.scheme == every_scheme;
  // A theta of 1 is that of every kind, and a sketch is not made for one.
  const bool is_sketch = traits_of(kind).takes_weights;
  if (shape.wanted.theta() == 1 || is_sketch) shape.wanted.threshold.reset();
  if (is_sketch) return cli::shape_of(shape).shape;
  if (kind == FilterKind::threshold) shape.wanted.threshold = shape.wanted.theta();
  refuse_flags_of_other_kinds(shape, kind);
  const bool is_planned = shape.wanted.false_positive_rate.has_value();
  if (!shape.num_positions && !shape.num_hashes && !is_planned) {
    throw std::invalid_argument(
        "give either --num-positions and --num-hashes, or --false-positive-rate to plan them");
  }
  if (is_planned) {
    if (shape.num_positions && shape.num_hashes) {
      throw std::invalid_argument(
          "give either --num-positions and --num-hashes, or --false-positive-rate to plan them");
    }
    shape.wanted.num_keys = options.num_keys;
    if (is_counting_bloom(kind) && !shape.wanted.counter_bits) shape.wanted.counter_bits = 4;
    if (kind == FilterKind::compact_dleft) shape.wanted.keys_repeat = false;  // each is inserted once
  }
  return cli::shape_of(shape).shape;
}

std::uint64_t num_inserted(const SimulationPlan& plan) {
  const InsertionMix mix = insertion_mix(plan);
  std::uint64_t sum = mix.num_single_keys;
  for (const InsertionMix::Group& group : mix.groups) sum += group.true_count * group.num_keys;
  return sum;
}

/// The promise of a sketch that gets as many insertions, by its theorem. None if the error is too large to be simulated, or
/// the promised probability too small for a double.
std::optional<SketchPromise> promise_of_sketch(const VerifyOptions& options, const SimulationPlan& of_law,
                                               double seconds) {
  constexpr double most_queries = 1e7;
  constexpr double wanted_failures = 1000;
  const FilterShape& shape = of_law.shape;
  if (shape.kind() != FilterKind::count_min) return std::nullopt;
  const RowLaw law = shape.scheme_name() == TwoHashRows::name ? RowLaw::two_hash : RowLaw::independent;
  const CountMinBound bound = bound_of(std::get<CountMinShape>(shape.shape), law);
  const double error = std::floor(bound.epsilon * static_cast<double>(of_law.num_insertions));
  if (!(bound.failure_probability > 0 && bound.failure_probability < 1) || error + 1 > largest_threshold)
    return std::nullopt;
  SketchPromise promise{bound.failure_probability, static_cast<std::uint64_t>(error), {}};
  SimulationWishes wishes{promise.error + 1, options.num_trials, std::uint64_t{1}, options.seed + 1, seconds};
  promise.plan = plan_simulation(shape, of_law.num_insertions, wishes);
  if (num_inserted(promise.plan) != of_law.num_insertions) return std::nullopt;
  const double queries = std::min(most_queries, wanted_failures / promise.failure_probability) /
                         static_cast<double>(promise.plan.num_trials);
  promise.plan.num_queries =
      options.num_queries.value_or(static_cast<std::uint64_t>(std::max(100.0, queries)));
  return promise;
}

/// The simulation of a filter, or of a smaller one if the filter is large and the user has not said how often to fill it.
Attempt attempt_with(const VerifyOptions& options, const FilterShape& shape, std::uint64_t num_insertions) {
  const bool is_sketch = shape.kind() == FilterKind::count_min;
  const double num_simulations = static_cast<double>(schemes_of(options).size()) * (is_sketch ? 2 : 1);
  // The default threshold, and what is refused, are those of the filter itself.
  const std::uint64_t threshold =
      plan_simulation(shape, num_insertions,
                      {.threshold = options.threshold, .num_trials = 1, .num_queries = 1})
          .threshold;
  const SimulationWishes wishes{threshold, options.num_trials, options.num_queries, options.seed,
                                usual_simulation_seconds / num_simulations};
  const FilledShape found = options.num_trials
                                ? FilledShape{shape, num_insertions}
                                : small_enough_to_simulate(shape, num_insertions, wishes.seconds);
  Attempt attempt{plan_simulation(found.shape, found.num_insertions, wishes)};
  attempt.sketch = promise_of_sketch(options, attempt.plan, wishes.seconds);
  if (found.num_insertions != num_insertions) attempt.num_insertions_of_original = num_insertions;
  return attempt;
}

/// --keys as insertions. A plan promises its rate for that many distinct keys, of which a simulation inserts some more
/// than once.
std::uint64_t num_insertions_of(const VerifyOptions& options, const FilterShape& shape) {
  const std::uint64_t theta = shape.made_for_theta().value_or(1);
  if (!options.shape.wanted.false_positive_rate || theta == 1) return *options.num_keys;
  return insertions_of_distinct_keys({.shape = shape, .threshold = theta, .should_stop = {}},
                                     *options.num_keys);
}

Attempt attempt_of(const VerifyOptions& options, const std::string& scheme) {
  if (!options.file.empty()) {
    const OpenFilter filter(FilterFileOptions{options.file, options.key_file, options.verify_file});
    const std::uint64_t num_keys = options.num_keys.value_or(filter->totals().num_insertions);
    if (num_keys == 0)
      throw std::invalid_argument(
          "--keys: the filter in the file has no keys; give the number of keys per filter");
    if (options.shape.wanted.false_positive_rate && traits_of(filter->shape().kind()).takes_weights)
      throw std::invalid_argument(
          "--false-positive-rate: the file has a sketch, which has no such promise; leave it out");
    return attempt_with(options, filter->shape(), num_keys);
  }
  if (!options.num_keys) throw std::invalid_argument("--keys is missing; give the number of keys per filter");
  const FilterShape shape = shape_of(options, scheme);
  return attempt_with(options, shape, num_insertions_of(options, shape));
}

}  // namespace

std::vector<Attempt> attempts_of(const VerifyOptions& options) {
  std::vector<Attempt> attempts;
  for (const std::string& scheme : schemes_of(options)) attempts.push_back(attempt_of(options, scheme));
  return attempts;
}

}  // namespace tally::cli

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
#include "tally/planner.hpp"

namespace tally::cli {
namespace {

constexpr std::uint64_t insertions_by_default = 20'000'000;  // in all trials together: takes a few seconds
constexpr double passes_by_default = 1000;
constexpr std::uint64_t max_queries_a_trial = 10'000'000;
constexpr std::uint32_t most_threshold = 10'000;

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

/// Queries of a dleft or compact-dleft filter ask whether a key is in it. For a sketch, theta is by default the least
/// count that few absent keys reach.
std::uint64_t threshold_of(const VerifyOptions& options, SimulationPlan plan) {
  constexpr double few = 0.1;
  switch (plan.shape.kind()) {
    case FilterKind::dleft:
    case FilterKind::compact_dleft:
      return 1;
    case FilterKind::count_min: {
      if (options.threshold) return *options.threshold;
      plan.threshold = 1;
      const InsertionMix mix = insertion_mix(plan);  // all keys once
      const auto passes = [&](std::uint64_t theta) {
        plan.threshold = theta;
        return std::exp(predicted_law(plan, mix, 0).ln_false_positive_rate) > few;
      };
      std::uint64_t least = 1;
      for (std::uint64_t end = most_threshold + 1; least < end;) {
        const std::uint64_t middle = least + (end - least) / 2;
        passes(middle) ? least = middle + 1 : end = middle;
      }
      if (least > most_threshold)
        throw std::invalid_argument(
            "--keys: with this number of keys, counts are too high by more than 10000; give fewer");
      return least;
    }
    default:
      return plan.shape.made_for_theta().value_or(1);
  }
}

Attempt attempt_of(const VerifyOptions& options, const std::string& scheme) {
  SimulationPlan plan;
  plan.seed = options.seed;
  if (!options.file.empty()) {
    const OpenFilter filter(FilterFileOptions{options.file, options.key_file, options.verify_file});
    plan.shape = filter->shape();
    plan.num_insertions = options.num_keys.value_or(filter->totals().num_insertions);
  } else {
    if (!options.num_keys)
      throw std::invalid_argument("--keys is missing; give the number of keys per filter");
    plan.shape = shape_of(options, scheme);
    plan.num_insertions = *options.num_keys;
  }
  if (plan.num_insertions == 0)
    throw std::invalid_argument(
        "--keys: the filter in the file has no keys; give the number of keys per filter");
  plan.threshold = threshold_of(options, plan);
  if (plan.threshold > most_threshold)
    throw std::invalid_argument(
        "--theta: the theta of this filter is above 10000; give a filter with a smaller one");
  plan.num_trials = options.num_trials.value_or(
      std::clamp<std::uint64_t>(insertions_by_default / plan.num_insertions, 20, 1000));
  const SchemeLaw law = predicted_law(plan, insertion_mix(plan), 0);
  const double rate = std::exp(law.ln_false_positive_rate);
  const double wanted =
      std::clamp(passes_by_default / std::max(rate, 1e-300) / static_cast<double>(plan.num_trials), 100.0,
                 static_cast<double>(max_queries_a_trial));
  plan.num_queries = options.num_queries.value_or(static_cast<std::uint64_t>(wanted));
  return {plan, law};
}

}  // namespace

std::vector<Attempt> attempts_of(const VerifyOptions& options) {
  std::vector<Attempt> attempts;
  for (const std::string& scheme : schemes_of(options)) attempts.push_back(attempt_of(options, scheme));
  return attempts;
}

}  // namespace tally::cli

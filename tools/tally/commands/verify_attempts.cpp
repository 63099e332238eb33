#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "commands/verify.hpp"
#include "files/filter_file.hpp"
#include "shape/scheme_option.hpp"
#include "tally/any_filter.hpp"
#include "tally/planner.hpp"

namespace tally::cli {
namespace {

constexpr std::uint64_t insertions_by_default = 20'000'000;  // in all trials together: some seconds
constexpr double passes_by_default = 1000;
constexpr std::uint64_t max_queries_a_trial = 10'000'000;
constexpr std::uint32_t most_threshold = 10'000;

FilterKind kind_of(const VerifyOptions& options) {
  if (!options.kind.empty()) return filter_kind(options.kind);
  return options.threshold.value_or(1) > 1 ? FilterKind::threshold : FilterKind::bloom;
}

/// The schemes that are asked for: one, or all of the kind.
std::vector<std::string> schemes_of(const VerifyOptions& options) {
  if (options.scheme != every_scheme || !options.file.empty()) return {options.scheme};
  if (kind_of(options) == FilterKind::blocked_bloom)
    throw std::invalid_argument("--scheme: a blocked-bloom filter has one scheme only; leave it out");
  return scheme_names(kind_of(options));
}

/// Flags that would change nothing are refused.
void check_flags_of(FilterKind kind, const VerifyOptions& options) {
  if (options.counter_bits && kind != FilterKind::counting_bloom) {
    throw std::invalid_argument(
        fmt::format("--counter-bits: it does nothing for a {} filter here; leave it out, or give --kind "
                    "counting-bloom",
                    name_of(kind)));
  }
  if (options.conservative && kind != FilterKind::threshold && kind != FilterKind::count_min) {
    throw std::invalid_argument(
        fmt::format("--conservative: it does nothing for a {} filter; leave it out, or give --kind threshold "
                    "or count-min",
                    name_of(kind)));
  }
}

FilterShape sketch_of(const VerifyOptions& options, const std::string& scheme) {
  if (options.num_positions || options.num_hashes || options.false_positive_rate != 0) {
    throw std::invalid_argument(
        "--num-positions, --num-hashes, --false-positive-rate: the size of a count-min sketch follows from "
        "--epsilon, or --width and --depth");
  }
  SharedSketchOptions shared;
  shared.update = options.conservative ? CounterUpdate::conservative : CounterUpdate::plain;
  CountMinOptions sketch = options.count_min;
  const std::uint16_t id = scheme_id_for(FilterKind::count_min, scheme);
  if (options.scheme != every_scheme || !sketch.width) return sketch.shape(id, shared);
  const FilterShape one_row{CountMinShape{.width = *sketch.width, .depth = 1}, id};
  sketch.width = std::get<CountMinShape>(round_to_scheme(one_row, Rounding::down).shape).width;
  return sketch.shape(id, shared);
}

/// The shape that the flags spell out, or that is planned for keys and a rate. Where all schemes are asked for, a
/// number of positions that one of them cannot use becomes the next one below that it can.
FilterShape shape_of(const VerifyOptions& options, const std::string& scheme) {
  const FilterKind kind = kind_of(options);
  const std::uint64_t theta = options.threshold.value_or(1);
  check_flags_of(kind, options);
  if (kind == FilterKind::count_min) return sketch_of(options, scheme);
  if (const std::string flag = options.count_min.given(); !flag.empty())
    throw std::invalid_argument(
        fmt::format("{}: a {} filter has none; give --kind count-min", flag, name_of(kind)));
  if (theta > 1 && kind != FilterKind::threshold && kind != FilterKind::counting_bloom) {
    throw std::invalid_argument(
        fmt::format("--theta: a {} filter has none; give --kind threshold or counting-bloom", name_of(kind)));
  }
  if (options.num_positions.has_value() != options.num_hashes.has_value()) {
    throw std::invalid_argument("--num-positions and --num-hashes make a shape together; give both");
  }
  if (options.num_positions.has_value() == (options.false_positive_rate != 0)) {
    throw std::invalid_argument(
        "give --num-positions and --num-hashes, or --false-positive-rate to plan them");
  }
  if (kind == FilterKind::dleft) {
    if (options.num_positions)
      throw std::invalid_argument(
          "--num-positions: a dleft filter has cells; "
          "give --false-positive-rate, or --file");
    const DLeftShape planned =
        plan_dleft({.num_keys = *options.num_keys, .false_positive_rate = options.false_positive_rate});
    return round_to_scheme({planned, scheme_id_for(kind, scheme)}, Rounding::up);
  }
  std::uint64_t m = options.num_positions.value_or(0);
  std::uint32_t k = options.num_hashes.value_or(0);
  if (m == 0) {
    const BloomRequest request{.num_keys = *options.num_keys,
                               .false_positive_rate = options.false_positive_rate};
    const BloomShape planned =
        kind == FilterKind::blocked_bloom ? plan_blocked_bloom(request) : plan_bloom(request);
    m = planned.num_bits;
    k = planned.num_hashes;
  }
  FilterShape shape;
  shape.scheme_id = scheme_id_for(kind, scheme);
  if (kind == FilterKind::counting_bloom) {
    shape.shape = CountingBloomShape{m, k, options.counter_bits.value_or(4), theta};
  } else if (kind == FilterKind::threshold) {
    shape.shape = ThresholdShape{m, k, theta,
                                 options.conservative ? CounterUpdate::conservative : CounterUpdate::plain};
  } else {
    shape.shape = BloomShape{m, k};
  }
  if (options.num_positions && options.scheme == every_scheme) return round_to_scheme(shape, Rounding::down);
  if (options.num_positions) {
    check_shape(shape);
    return shape;
  }
  return round_to_scheme(shape, Rounding::up);
}

/// A dleft filter is asked whether a key is there; its counts have no maximum. Nor have those of a sketch, which is asked
/// for the least count that few keys have falsely.
std::uint64_t threshold_of(const VerifyOptions& options, SimulationPlan plan) {
  constexpr double few = 0.1;
  switch (plan.shape.kind()) {
    case FilterKind::dleft:
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
            "--keys: so many that every count is too high by thousands; try with fewer");
      return least;
    }
    default:
      return std::max<std::uint64_t>(1, plan.shape.threshold());
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
      throw std::invalid_argument("--keys is missing; say how many keys a filter is to hold");
    plan.shape = shape_of(options, scheme);
    plan.num_insertions = *options.num_keys;
  }
  if (plan.num_insertions == 0)
    throw std::invalid_argument("--keys: the filter holds no keys; say how many to try with");
  plan.threshold = threshold_of(options, plan);
  if (plan.threshold > most_threshold)
    throw std::invalid_argument("--theta is above 10000; verify tries smaller ones only");
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

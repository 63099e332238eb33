#include "shape/build.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "cli/flag_words.hpp"
#include "files/filter_file.hpp"
#include "files/shape_json.hpp"
#include "input/distinct_estimate.hpp"
#include "input/key_loop.hpp"
#include "input/rewindable_input.hpp"
#include "shape/memory_warning.hpp"
#include "shape/scheme_option.hpp"
#include "tally/planner.hpp"

namespace tally::cli {

namespace {

constexpr double default_rate = 0.01;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

FilterKind kind_of(const BuildOptions& options) {
  if (!options.kind.empty()) return filter_kind(options.kind);
  return options.threshold.value_or(1) > 1 ? FilterKind::threshold : FilterKind::bloom;
}

void refuse_flags_of_other_kinds(const BuildOptions& options, FilterKind kind) {
  const bool counts = kind == FilterKind::counting_bloom || kind == FilterKind::threshold;
  const auto check = [&](bool given, const char* flag, bool has, const char* fix) {
    if (given && !has) refuse(fmt::format("{}: a {} filter has none; {}", flag, name_of(kind), fix));
  };
  check(options.threshold.has_value(), "--threshold", counts, "give --kind threshold or counting-bloom");
  const bool is_dleft = kind == FilterKind::dleft;
  const bool is_sketch = kind == FilterKind::count_min;
  if (!is_dleft && options.counter_bits == 0u) refuse("--counter-bits: '0' is too small; must be at least 1");
  check(
      options.counter_bits.has_value(), "--counter-bits",
      is_dleft || is_sketch || kind == FilterKind::counting_bloom,
      "give --kind counting-bloom, dleft or count-min (a threshold filter's width follows from --threshold)");
  check(!options.update.empty(), "--update", is_sketch || kind == FilterKind::threshold,
        "give --kind threshold or count-min");
  const std::string dleft_flag = options.dleft_flag(kind);
  check(!dleft_flag.empty(), dleft_flag.c_str(), is_dleft,
        dleft_flag == "--failure-probability" ? "give --kind dleft or count-min" : "give --kind dleft");
  check(!options.records.sum_fields.empty(), "--sum", is_sketch, "give --kind count-min");
  const std::string sketch_flag = options.count_min.given();
  check(!sketch_flag.empty(), sketch_flag.c_str(), is_sketch, "give --kind count-min");
  if (is_sketch &&
      (options.num_keys || options.false_positive_rate || options.num_positions || options.num_hashes)) {
    refuse(
        "--keys, --false-positive-rate, --num-positions, --num-hashes: the size of a count-min sketch "
        "follows "
        "from --epsilon and --failure-probability, or --memory, or --width and --depth");
  }
  if (!is_dleft) return;
  if (options.num_positions || options.num_hashes) {
    refuse(
        "--num-positions, --num-hashes: a dleft filter has cells in subtables; give --buckets-per-subtable "
        "and "
        "so on, or --keys, or --shape");
  }
  if (options.counter_bits && options.dleft_shape.given().empty()) {
    refuse(
        "--counter-bits: the planner chooses those of a dleft filter; give --remainder-bits and so on, too");
  }
}

FilterShape explicit_dleft_shape(const BuildOptions& options) {
  const std::string shape_flag = options.dleft_shape.given();
  if (options.is_planned()) {
    refuse(fmt::format("{}: --keys, --false-positive-rate and --memory plan a shape; leave either out",
                       shape_flag));
  }
  DLeftPlanOptions plan_only = options.dleft_plan;
  plan_only.max_doublings.reset();
  if (!plan_only.given().empty()) {
    refuse(fmt::format("{}: it is for the planner, and {} spells the shape out; leave either out",
                       plan_only.given(), shape_flag));
  }
  FilterShape shape;
  shape.scheme_id = scheme_id_for(FilterKind::dleft, options.scheme);
  shape.shape = options.dleft_shape.shape(options.counter_bits, options.dleft_plan.max_doublings.value_or(0));
  check_shape(shape);
  return shape;
}

template <class Request>
Request request_of(const BuildOptions& options, std::uint64_t num_keys) {
  Request request;
  request.num_keys = num_keys;
  request.false_positive_rate = options.false_positive_rate.value_or(0);
  request.memory_bytes = options.memory_bytes.value_or(0);
  // One of keys and memory alone: the rate is the other thing known.
  if (!options.false_positive_rate && (num_keys == 0 || !options.memory_bytes))
    request.false_positive_rate = default_rate;
  return request;
}

DLeftRequest dleft_request(const BuildOptions& options, std::uint64_t num_keys) {
  auto request = request_of<DLeftRequest>(options, num_keys);
  options.dleft_plan.apply_to(request);
  request.num_subtables = options.dleft_shape.num_subtables.value_or(0);
  if (options.memory_bytes && options.scheme == MultiplierBuckets::name) {
    refuse(
        "--memory: the scheme 'multiplier' has powers of two of buckets; give --keys and a rate, or a shape");
  }
  return request;
}

FilterShape sketch_shape(const BuildOptions& options) {
  return options.count_min.shape(scheme_id_for(FilterKind::count_min, options.scheme),
                                 {.memory_bytes = options.memory_bytes,
                                  .failure_probability = options.dleft_plan.failure_probability,
                                  .counter_bits = options.counter_bits,
                                  .update = options.counter_update()});
}

FilterShape explicit_shape(const BuildOptions& options, FilterKind kind) {
  if (!options.num_positions || !options.num_hashes) {
    refuse("--num-positions and --num-hashes make a shape together; give both, or --keys, or --memory");
  }
  FilterShape shape;
  shape.scheme_id = scheme_id_for(kind, options.scheme);
  if (kind == FilterKind::counting_bloom) {
    shape.shape = CountingBloomShape{.num_counters = *options.num_positions,
                                     .num_hashes = *options.num_hashes,
                                     .counter_bits = options.counter_bits.value_or(4),
                                     .max_threshold = options.threshold.value_or(1)};
  } else if (kind == FilterKind::threshold) {
    shape.shape = ThresholdShape{.num_counters = *options.num_positions,
                                 .num_hashes = *options.num_hashes,
                                 .threshold = options.threshold.value_or(1),
                                 .update = options.counter_update()};
  } else {
    shape.shape = BloomShape{.num_bits = *options.num_positions, .num_hashes = *options.num_hashes};
  }
  check_shape(shape);
  return shape;
}

// Reads the keys once to tell how many are distinct; the build then reads them again.
std::uint64_t count_distinct(const BuildOptions& options) {
  const RewindableInput input(options.input.files, "--keys",
                              "keys; say how many distinct keys to plan for with --keys, or how much memory "
                              "to use with --memory");
  DistinctEstimate estimate;
  const auto insert = [&](std::span<const std::string_view>, std::span<const Hash128> digests) {
    for (const Hash128 digest : digests) estimate.insert(digest);
  };
  const std::uint64_t num_lines =
      for_each_batch(options.input, KeyHasher(default_seed), options.quiet, insert);
  refuse_if_stopped(options.output);
  input.rewind();
  remark(options.quiet,
         fmt::format("counted {} keys, about {:.0f} of them distinct", num_lines, estimate.estimate()));
  return estimate.num_to_plan_for(num_lines);
}

Planned planned_shape(const BuildOptions& options, FilterKind kind) {
  if (options.num_keys && options.memory_bytes && options.false_positive_rate) {
    refuse(
        "--false-positive-rate: keys and memory are given, so the rate follows; leave one of the three out");
  }
  std::uint64_t num_keys = options.num_keys.value_or(0);
  if (!options.num_keys && !options.memory_bytes) num_keys = count_distinct(options);
  const double rate = request_of<BloomRequest>(options, num_keys).false_positive_rate;
  Planned planned;
  planned.shape.scheme_id = scheme_id_for(kind, options.scheme);
  const auto keys_of = [&](const auto& shape) {
    return rate > 0 && num_keys == 0 ? planned_num_keys(shape, rate) : num_keys;
  };
  const auto take = [&](const auto& shape) {
    planned.shape.shape = shape;
    planned.num_keys = static_cast<double>(keys_of(shape));
  };
  if (kind == FilterKind::bloom) {
    take(plan_bloom(request_of<BloomRequest>(options, num_keys)));
  } else if (kind == FilterKind::blocked_bloom) {
    const BloomShape shape = plan_blocked_bloom(request_of<BloomRequest>(options, num_keys));
    planned.shape.shape = shape;
    planned.num_keys = static_cast<double>(num_keys != 0 ? num_keys : planned_num_keys_blocked(shape, rate));
  } else if (kind == FilterKind::counting_bloom) {
    auto request = request_of<CountingBloomRequest>(options, num_keys);
    request.max_threshold = options.threshold.value_or(1);
    request.counter_bits = options.counter_bits.value_or(0);
    take(plan_counting_bloom(request));
  } else if (kind == FilterKind::dleft) {
    const DLeftRequest request = dleft_request(options, num_keys);
    take(plan_dleft(request));
    planned.num_keys = std::ldexp(planned.num_keys, static_cast<int>(request.max_doublings));
  } else {
    auto request = request_of<ThresholdRequest>(options, num_keys);
    request.threshold = options.threshold.value_or(1);
    request.update = options.counter_update();
    take(plan_threshold(request));
  }
  planned.shape = round_to_scheme(planned.shape, options.memory_bytes ? Rounding::down : Rounding::up);
  if (options.num_keys && options.memory_bytes) {
    warn_of_little_memory(*options.memory_bytes, num_keys, rate_with(planned.shape, num_keys), [&] {
      BuildOptions roomy = options;
      roomy.memory_bytes.reset();
      roomy.false_positive_rate = usual_rate;
      return planned_shape(roomy, kind).shape.num_bytes();
    });
  }
  return planned;
}

Json read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  try {
    return Json::parse(file);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("--shape: '{}' is no JSON: {}", path, error.what()));
  }
}

FilterShape shape_in_file(const BuildOptions& options) {
  try {
    return shape_from_json(read_json(options.shape_file), options.kind);
  } catch (const std::invalid_argument& error) {
    std::string_view what = without_structure(error.what());
    constexpr std::string_view flag = "--shape: ";
    if (what.starts_with(flag)) what.remove_prefix(flag.size());
    if (what.starts_with('\'' + options.shape_file)) refuse(error.what());
    refuse(fmt::format("{}'{}': {}", flag, options.shape_file, what));
  }
}

}  // namespace

Planned shape_of(const BuildOptions& options) {
  if (!options.shape_file.empty()) return {shape_in_file(options)};
  const FilterKind kind = kind_of(options);
  refuse_flags_of_other_kinds(options, kind);
  if (kind == FilterKind::count_min) return {sketch_shape(options)};
  if (!options.dleft_shape.given().empty()) return {explicit_dleft_shape(options)};
  if (options.num_positions || options.num_hashes) return {explicit_shape(options, kind)};
  return planned_shape(options, kind);
}

}  // namespace tally::cli

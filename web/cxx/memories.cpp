#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "files/shape_json.hpp"
#include "functions.hpp"
#include "requirements.hpp"
#include "tally/planner.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/threshold.hpp"

namespace tally::page {
namespace {

constexpr std::size_t most_memories = 1000;
constexpr double most_steps_per_memory = 0x1p18;  // a millisecond

/// A shape at a point of the curve.
struct Planned {
  FilterShape shape;
  std::uint64_t num_keys = 0;
  double false_positive_rate = 0;
};

std::uint64_t num_keys_in(const theory::CountHistogram& histogram) {
  return static_cast<std::uint64_t>(std::min(std::ceil(histogram.num_distinct()), 0x1p63));
}

/// The rate that the plan of a threshold filter promises: for keys inserted `true_count` times.
std::optional<double> promised_rate(const ThresholdShape& shape, const Requirements& wanted) {
  const std::uint64_t theta = shape.threshold;
  const std::uint64_t true_count = wanted.true_count.value_or(theta - 1);
  if (true_count >= theta - 1) return std::nullopt;  // that of all distinct keys
  if (wanted.histogram) {
    return theory::compound_threshold_false_positive_probability(*wanted.histogram, theta, shape.num_hashes,
                                                                 shape.num_counters, true_count);
  }
  const std::optional<std::uint64_t> num_insertions =
      wanted.num_insertions ? wanted.num_insertions : wanted.num_keys;
  if (!num_insertions) return wanted.false_positive_rate;
  return theory::threshold_false_positive_probability(theta, shape.num_hashes, *num_insertions,
                                                      shape.num_counters, true_count);
}

/// What plan() makes of the requirements for a kind.
Requirements completed(FilterKind kind, const Requirements& all) {
  Requirements wanted = all;
  const bool reads_histogram = kind == FilterKind::threshold || kind == FilterKind::dleft;
  if (wanted.histogram && !reads_histogram) {
    wanted.num_keys = num_keys_in(*wanted.histogram);
    wanted.histogram.reset();
  }
  if (!wanted.needs_deletes && !wanted.lifetime_operations) wanted.lifetime_operations = 0;
  return wanted;
}

Planned planned(FilterKind kind, const Requirements& all) {
  const Requirements wanted = completed(kind, all);
  Planned result{.shape = plan_shape(kind, wanted)};
  if (wanted.num_keys) {
    result.num_keys = *wanted.num_keys;
  } else if (wanted.histogram) {
    result.num_keys = num_keys_in(*wanted.histogram);
  } else {
    result.num_keys = planned_num_keys(result.shape, *wanted.false_positive_rate);
  }
  std::optional<double> rate;
  if (const auto* const threshold = std::get_if<ThresholdShape>(&result.shape.shape))
    rate = promised_rate(*threshold, wanted);
  if (!rate) {
    rate = std::exp(
        false_positive_law(result.shape, result.num_keys, most_steps_per_memory).ln_false_positive_rate);
  }
  result.false_positive_rate = *rate;
  return result;
}

FilterKind kind_of(Arguments& arguments) {
  const auto name = arguments.required<std::string>("kind");
  const FilterKind kind = filter_kind(name);
  if (kind == FilterKind::count_min)
    arguments.refuse("kind", name, "the kind of a filter; plan_sketch plans sketches");
  return kind;
}

}  // namespace

Json error_by_memory(const Json& fields) {
  Arguments arguments(fields);
  const FilterKind kind = kind_of(arguments);
  const std::vector<std::uint64_t> memories = arguments.whole_numbers("memory_bytes", 1, most_memories);
  Arguments of_requirements(arguments.get("requirements"), "requirements.");
  arguments.refuse_others();
  Requirements wanted = requirements_of(of_requirements);
  of_requirements.refuse_others();
  if (wanted.memory_bytes)
    throw std::invalid_argument(
        "'requirements.memory_bytes' is given; leave it out: 'memory_bytes' lists the memories");

  Json shapes = Json::array();
  Json used = Json::array();
  Json num_keys = Json::array();
  Json rates = Json::array();
  std::string last_error;
  bool is_any_planned = false;
  for (const std::uint64_t memory : memories) {
    wanted.memory_bytes = memory;
    try {
      const Planned at = planned(kind, wanted);
      shapes.push_back(cli::shape_to_json(at.shape));
      used.push_back(at.shape.num_bytes());
      num_keys.push_back(at.num_keys);
      rates.push_back(at.false_positive_rate);
      is_any_planned = true;
    } catch (const std::invalid_argument& error) {  // no filter of the kind is this small, or this large
      last_error = error.what();
      for (Json* const column : {&shapes, &used, &num_keys, &rates}) column->push_back(nullptr);
    }
  }
  return {{"kind", name_of(kind)},
          {"memory_bytes", memories},
          {"shape", shapes},
          {"used_bytes", used},
          {"num_keys", num_keys},
          {"false_positive_rate", rates},
          {"error", is_any_planned ? Json() : Json(last_error)}};
}

}  // namespace tally::page

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "files/shape_json.hpp"
#include "functions.hpp"
#include "planner/dleft_loads.hpp"
#include "requirements.hpp"
#include "tally/any_filter/simulation.hpp"
#include "tally/planner/plan.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/threshold.hpp"

namespace tally::page {
namespace {

constexpr double most_steps_per_point = 0x1p18;  // a millisecond
constexpr std::uint64_t most_simulated_theta = 10'000;

/// A point of a curve: a rate, and how accurate it is.
struct Rate {
  double value = std::numeric_limits<double>::quiet_NaN();  // null in JSON
  std::string_view law;                                     // empty if there is none
};

/// What the curve is about, besides the number of keys.
struct Question {
  FilterShape shape;
  std::uint64_t theta = 1;
  std::optional<std::uint64_t> insertions_per_key;  ///< empty: any number
  std::uint64_t lifetime_operations = 0;
};

Rate rate_of(const SchemeLaw& law, std::string_view name) {
  return {std::exp(law.ln_false_positive_rate), name};
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

Rate rate_of_sketch(const Question& question, std::uint64_t num_insertions) {
  SimulationPlan plan{.shape = question.shape, .threshold = question.theta, .should_stop = {}};
  InsertionMix mix;
  mix.num_single_keys = num_insertions;
  const SchemeLaw law = predicted_law(plan, mix, 0);
  return rate_of(law, law.kind == LawKind::exact ? "independent" : name_of(law.kind));
}

Rate rate_at(const Question& question, std::uint64_t num_keys) {
  const FilterShape& shape = question.shape;
  const std::uint64_t num_insertions = product(num_keys, question.insertions_per_key.value_or(1));
  if (shape.kind() == FilterKind::count_min) return rate_of_sketch(question, num_insertions);
  if (question.theta > 1 && question.insertions_per_key) {
    const bool has_law = shape.kind() == FilterKind::counting_bloom || shape.kind() == FilterKind::threshold;
    if (!has_law) return {};
    return {theory::threshold_false_positive_probability(question.theta, shape.num_hashes(), num_insertions,
                                                         shape.num_positions()),
            "independent"};
  }
  const SchemeLaw law = false_positive_law(shape, num_keys, most_steps_per_point);
  return rate_of(law, question.theta > 1 ? "bound" : name_of(law.kind));
}

struct Filling {
  double load = std::numeric_limits<double>::quiet_NaN();
  double failure_probability = std::numeric_limits<double>::quiet_NaN();
};

Filling filling_at(const Question& question, std::uint64_t num_keys) {
  Filling filling;
  if (const auto* const compact = std::get_if<CompactDLeftShape>(&question.shape.shape)) {
    filling.load = theory::dleft_distinct_fingerprints(compact->num_lines_per_subtable,
                                                       compact->fingerprints_per_line(), num_keys) /
                   static_cast<double>(compact->num_cells());
  }
  const auto* const shape = std::get_if<DLeftShape>(&question.shape.shape);
  if (shape == nullptr) return filling;
  const std::uint64_t num_buckets = shape->current_buckets_per_subtable();
  filling.load = theory::dleft_distinct_load(
                     shape->num_subtables, num_buckets,
                     shape->fingerprint_space().num_remainders() >> shape->num_doublings, num_keys) /
                 shape->cells_per_bucket;
  const bool is_tabulated = planner_detail::is_planned_layout(shape->num_subtables, shape->cells_per_bucket);
  if (!is_tabulated || shape->num_doublings != 0) return filling;
  filling.failure_probability =
      filling.load > 1
          ? 1
          : planned_dleft_failure_probability(shape->num_subtables, num_buckets, shape->cells_per_bucket,
                                              num_keys, question.lifetime_operations, filling.load);
  return filling;
}

Question question_of(Arguments& arguments) {
  Question question{.shape = arguments.shape(), .insertions_per_key = {}};
  std::optional<std::uint64_t> threshold;
  arguments.read("threshold", threshold);
  arguments.read("insertions_per_key", question.insertions_per_key);
  arguments.read("lifetime_operations", question.lifetime_operations);
  const bool is_sketch = question.shape.kind() == FilterKind::count_min;
  if (is_sketch && !threshold)
    throw std::invalid_argument("'threshold' is missing; a sketch has none of its own");
  question.theta = threshold.value_or(question.shape.made_for_theta().value_or(1));
  const std::uint64_t most =
      is_sketch ? most_simulated_theta : std::max<std::uint64_t>(question.shape.largest_theta(), 1);
  if (question.theta == 0 || question.theta > most)
    arguments.refuse("threshold", question.theta, "1 to " + std::to_string(most) + " for this shape");
  if (question.insertions_per_key && *question.insertions_per_key == 0)
    arguments.refuse("insertions_per_key", *question.insertions_per_key, "at least 1");
  return question;
}

}  // namespace

Json error_by_keys(const Json& fields) {
  Arguments arguments(fields);
  const Question question = question_of(arguments);
  const std::vector<std::uint64_t> num_keys = arguments.whole_numbers("num_keys", 0, most_points);
  arguments.refuse_others();
  Json rates = Json::array();
  Json laws = Json::array();
  Json loads = Json::array();
  Json failures = Json::array();
  for (const std::uint64_t n : num_keys) {
    const Rate rate = rate_at(question, n);
    const Filling filling = filling_at(question, n);
    rates.push_back(rate.value);
    laws.push_back(rate.law.empty() ? Json() : Json(rate.law));
    loads.push_back(filling.load);
    failures.push_back(filling.failure_probability);
  }
  return {{"threshold", question.theta},
          {"num_keys", num_keys},
          {"false_positive_rate", rates},
          {"law", laws},
          {"load", loads},
          {"failure_probability", failures}};
}

}  // namespace tally::page

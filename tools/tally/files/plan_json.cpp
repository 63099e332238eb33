#include "files/plan_json.hpp"

#include "files/shape_json.hpp"

namespace tally::cli {
namespace {

Json forecast_json(const DLeftForecast& forecast) {
  Json sizes = Json::array();
  for (const DLeftSize& size : forecast.sizes) {
    sizes.push_back({{"num_doublings", size.num_doublings},
                     {"num_keys", size.num_keys},
                     {"memory_bytes", size.memory_bytes},
                     {"false_positive_rate", size.false_positive_rate}});
  }
  return {{"load", forecast.load},
          {"carried_load", forecast.carried_load},
          {"carried_load_without_moves", forecast.carried_load_without_moves},
          {"max_moves_per_insertion", forecast.max_moves_per_insertion},
          {"moves_per_insertion", forecast.moves_per_insertion},
          {"failure_probability", forecast.failure_probability},
          {"lifetime_operations", forecast.lifetime_operations},
          {"expected_spills", forecast.expected_spills},
          {"has_fast_loops", forecast.has_fast_loops},
          {"sizes", sizes}};
}

Json costs_json(const OperationCosts& costs) {
  Json json = {{"source", name_of(costs.source)},
               {"insert_ns", costs.insert_ns},
               {"remove_ns", nullptr},
               {"lookup_present_ns", costs.lookup_present_ns},
               {"lookup_absent_ns", costs.lookup_absent_ns},
               {"line_read_ns", costs.line_read_ns}};
  if (costs.remove_ns) json["remove_ns"] = *costs.remove_ns;
  return json;
}

}  // namespace

Json candidate_json(const Candidate& candidate) {
  Json errors = Json::array();
  for (const PredictedError& error : candidate.errors) {
    errors.push_back({{"true_count", error.true_count},
                      {"false_positive_rate", error.false_positive_rate},
                      {"ln_false_positive_rate", error.ln_false_positive_rate}});
  }
  const FilterShape& shape = candidate.shape;
  Json json = {{"kind", name_of(shape.kind())},
               {"scheme", shape.scheme_name()},
               {"shape", shape_to_json(shape)},
               {"num_positions", shape.num_positions()},
               {"num_hashes", shape.num_hashes()},
               {"counter_bits", shape.counter_bits()},
               {"num_keys", candidate.num_keys},
               {"memory_bytes", shape.num_bytes()},
               {"bits_per_key", candidate.bits_per_key()},
               {"false_positive_rate", candidate.false_positive_rate},
               {"promised_true_count", candidate.promised_true_count},
               {"errors", errors},
               {"error_law", name_of(candidate.error_law)},
               {"simple_threshold_rate", nullptr},
               {"saturation_probability", candidate.saturation_probability},
               {"expected_saturated_counters", candidate.expected_saturated_counters},
               {"cache_lines",
                {{"insert", candidate.cache_lines.insert},
                 {"lookup_absent", candidate.cache_lines.lookup_absent},
                 {"lookup_present", candidate.cache_lines.lookup_present}}},
               {"operation_costs", costs_json(candidate.operation_costs)},
               {"rounding_cost", nullptr},
               {"dleft", nullptr},
               {"summary", candidate.summary},
               {"source", candidate.source}};
  if (candidate.rounding_cost) {
    json["rounding_cost"] = {{"of", candidate.rounding_cost->is_of_memory ? "memory" : "error"},
                             {"whole_hashes_percent", candidate.rounding_cost->whole_hashes_percent},
                             {"whole_words_percent", candidate.rounding_cost->whole_words_percent}};
  }
  if (candidate.simple_threshold_rate) json["simple_threshold_rate"] = *candidate.simple_threshold_rate;
  if (candidate.dleft) json["dleft"] = forecast_json(*candidate.dleft);
  return json;
}

Json plan_json(const Plan& plan, const std::optional<PlanPreference>& preference) {
  Json candidates = Json::array();
  for (const Candidate& candidate : plan.candidates) candidates.push_back(candidate_json(candidate));
  return {{"recommended", name_of(plan.recommended().kind())},
          {"preference", preference ? Json(name_of(*preference)) : Json()},
          {"reason", plan.reason},
          {"warnings", plan.warnings},
          {"exact_table_bytes", plan.exact_table_bytes},
          {"candidates", candidates}};
}

}  // namespace tally::cli

#include "shape/sketch_plan.hpp"

#include <cmath>
#include <stdexcept>
#include <variant>

#include "files/shape_json.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/planner.hpp"

namespace tally::cli {
namespace {

constexpr double default_sketch_failure = 0.01;
constexpr std::uint32_t most_rows_with_a_forecast = 64;

Json forecast_json(const SketchCandidate& candidate) {
  if (!candidate.forecast) return nullptr;
  const CountForecast& forecast = *candidate.forecast;
  const auto memory = [&](const std::optional<std::uint64_t>& width) {
    return width ? Json(candidate.num_bytes_with(*width)) : Json(nullptr);
  };
  Json json{{"plain_mean_excess", forecast.plain_mean_excess},
            {"conservative_mean_excess", json_or_null(forecast.conservative_mean_excess)},
            {"plain_failure_probability", nullptr},
            {"conservative_failure_probability", nullptr},
            {"plain_width", json_or_null(candidate.plain_width)},
            {"plain_memory_bytes", memory(candidate.plain_width)},
            {"conservative_width", json_or_null(candidate.conservative_width)},
            {"conservative_memory_bytes", memory(candidate.conservative_width)}};
  if (candidate.has_independent_rows) {
    json["plain_failure_probability"] = forecast.plain_failure_probability;
    json["conservative_failure_probability"] = json_or_null(forecast.conservative_failure_probability);
  }
  return json;
}

}  // namespace

Requirements with_sketch_defaults(Requirements wanted) {
  const bool is_failure_open = !wanted.failure_probability && !(wanted.epsilon && wanted.memory_bytes);
  if (!wanted.epsilon && !wanted.memory_bytes) wanted.epsilon = default_sketch_epsilon;
  if (is_failure_open) wanted.failure_probability = default_sketch_failure;
  return wanted;
}

std::uint64_t SketchCandidate::num_bytes_with(std::uint64_t width) const {
  auto other = std::get<CountMinShape>(shape.shape);
  other.width = width;
  return num_bytes(other);
}

std::vector<SketchCandidate> sketch_candidates(const Requirements& wanted,
                                               const std::optional<ZipfStream>& stream) {
  const auto candidate = [&](std::string_view scheme, RowLaw law, std::string_view source) {
    Requirements sketch{.memory_bytes = wanted.memory_bytes,
                        .scheme = scheme,
                        .update = wanted.update,
                        .epsilon = wanted.epsilon,
                        .failure_probability = wanted.failure_probability,
                        .total_count = wanted.total_count};
    const FilterShape shape = plan_shape(FilterKind::count_min, sketch);
    const auto& own = std::get<CountMinShape>(shape.shape);
    SketchCandidate result{shape, bound_of(own, law), source};
    if (stream && own.num_rows() <= most_rows_with_a_forecast) {
      const auto error = static_cast<std::uint64_t>(std::floor(result.bound.epsilon * stream->total()));
      result.forecast = forecast_counts(own, *stream, error);
      result.has_independent_rows = law != RowLaw::two_hash;
      const auto least_width = [&](CounterUpdate update) {
        CountMinShape other = own;
        other.update = update;
        return least_count_min_width(other, *stream, error, result.bound.failure_probability);
      };
      if (result.has_independent_rows) {
        result.plain_width = least_width(CounterUpdate::plain);
        result.conservative_width = least_width(CounterUpdate::conservative);
      }
    }
    return result;
  };
  std::vector<SketchCandidate> candidates{
      candidate(DefaultRows::name, DefaultRows::law, "Cormode and Muthukrishnan 2003")};
  try {
    candidates.push_back(
        candidate(TwoHashRows::name, TwoHashRows::law, "Kirsch and Mitzenmacher 2008, Theorem 9.1"));
  } catch (
      const std::invalid_argument&) {  // it needs at least twice the memory, which may be more than allowed
  }
  return candidates;
}

Json sketch_plan_json(const std::vector<SketchCandidate>& candidates) {
  Json all = Json::array();
  for (const SketchCandidate& candidate : candidates) {
    all.push_back({{"kind", name_of(FilterKind::count_min)},
                   {"scheme", candidate.shape.scheme_name()},
                   {"shape", shape_to_json(candidate.shape)},
                   {"memory_bytes", candidate.shape.num_bytes()},
                   {"epsilon", candidate.bound.epsilon},
                   {"failure_probability", candidate.bound.failure_probability},
                   {"forecast", forecast_json(candidate)},
                   {"source", candidate.source}});
  }
  return {{"recommended", name_of(FilterKind::count_min)},
          {"reason", reason_for_first_sketch},
          {"candidates", all}};
}

}  // namespace tally::cli

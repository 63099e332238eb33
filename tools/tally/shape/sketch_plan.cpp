#include "shape/sketch_plan.hpp"

#include <stdexcept>
#include <variant>

#include "files/shape_json.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/planner.hpp"

namespace tally::cli {
namespace {

constexpr double default_sketch_failure = 0.01;

}  // namespace

Requirements with_sketch_defaults(Requirements wanted) {
  const bool is_failure_open = !wanted.failure_probability && !(wanted.epsilon && wanted.memory_bytes);
  if (!wanted.epsilon && !wanted.memory_bytes) wanted.epsilon = default_sketch_epsilon;
  if (is_failure_open) wanted.failure_probability = default_sketch_failure;
  return wanted;
}

std::vector<SketchCandidate> sketch_candidates(const Requirements& wanted) {
  const auto candidate = [&](std::string_view scheme, RowLaw law, std::string_view source) {
    Requirements sketch{.memory_bytes = wanted.memory_bytes,
                        .scheme = scheme,
                        .epsilon = wanted.epsilon,
                        .failure_probability = wanted.failure_probability,
                        .total_count = wanted.total_count};
    const FilterShape shape = plan_shape(FilterKind::count_min, sketch);
    return SketchCandidate{shape, bound_of(std::get<CountMinShape>(shape.shape), law), source};
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
                   {"source", candidate.source}});
  }
  return {{"recommended", name_of(FilterKind::count_min)},
          {"reason", reason_for_first_sketch},
          {"candidates", all}};
}

}  // namespace tally::cli

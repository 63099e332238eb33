#include "commands/plan_sketch.hpp"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "files/shape_json.hpp"
#include "shape/shape.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/sketches/count_min_bound.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

struct SketchCandidate {
  FilterShape shape;
  CountMinBound bound;
  std::string_view source;
};

std::vector<SketchCandidate> candidates_of(const ShapeOptions& options) {
  const auto candidate = [&](std::string_view scheme, RowLaw law, std::string_view source) {
    ShapeOptions sketch{.kind = std::string(name_of(FilterKind::count_min)), .scheme = std::string(scheme)};
    sketch.wanted = {.memory_bytes = options.wanted.memory_bytes,
                     .epsilon = options.wanted.epsilon,
                     .failure_probability = options.wanted.failure_probability,
                     .total_count = options.wanted.total_count};
    const FilterShape shape = shape_of(sketch).shape;
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

constexpr std::string_view reason =
    "it has the same bound with half the width, which need not be a prime. Conservative update (--update) "
    "has the same bound and smaller errors, but merging such sketches is no longer exact";

std::string text_of(const std::vector<SketchCandidate>& candidates, std::uint64_t total_count) {
  Table table({"rows", "memory", "width", "depth", "copies", "bits", "max error", "P(larger error)"});
  for (const SketchCandidate& candidate : candidates) {
    const auto& shape = std::get<CountMinShape>(candidate.shape.shape);
    std::string excess = human_rate(candidate.bound.epsilon) + " of the sum";
    if (total_count != 0) {
      excess += fmt::format(
          " ({})", human_count(std::floor(candidate.bound.epsilon * static_cast<double>(total_count))));
    }
    table.add_row({std::string(candidate.shape.scheme_name()),
                   human_bytes(static_cast<double>(candidate.shape.num_bytes())), std::to_string(shape.width),
                   std::to_string(shape.depth), std::to_string(shape.num_copies),
                   std::to_string(shape.counter_bits), excess,
                   human_rate(candidate.bound.failure_probability)});
  }
  const SketchCandidate& first = candidates.front();
  return table.text() + "\n" +
         wrapped(fmt::format("Recommended: {} rows, because {}.", first.shape.scheme_name(), reason), 0) +
         "\n" + wrapped(fmt::format("Formula: {}.", first.source), 0) + "\n" +
         wrapped("Note: a count is never too low.", 2) + "\n";
}

Json json_of(const std::vector<SketchCandidate>& candidates) {
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
  return {{"recommended", name_of(FilterKind::count_min)}, {"reason", reason}, {"candidates", all}};
}

}  // namespace

ExitCode plan_sketch(const ShapeOptions& options, bool json) {
  if (options.count_min.is_given()) {
    throw std::invalid_argument(
        "--width, --depth, --copies: they define a shape, which needs no plan; give them to 'tally build'");
  }
  const std::vector<SketchCandidate> candidates = candidates_of(options);
  if (json) {
    print_json(json_of(candidates));
  } else {
    print(text_of(candidates, options.wanted.total_count.value_or(0)));
  }
  return ExitCode::success;
}

}  // namespace tally::cli

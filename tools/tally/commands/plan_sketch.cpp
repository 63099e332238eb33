#include "commands/plan_sketch.hpp"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "shape/kinds.hpp"
#include "shape/sketch_plan.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

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
         wrapped(fmt::format("Recommended: {} rows, because {}.", first.shape.scheme_name(),
                             reason_for_first_sketch),
                 0) +
         "\n" + wrapped(fmt::format("Formula: {}.", first.source), 0) + "\n" +
         wrapped("Note: a count is never too low.", 2) + "\n";
}

}  // namespace

ExitCode plan_sketch(const ShapeOptions& options, bool json) {
  if (options.count_min.is_given()) {
    throw std::invalid_argument(
        "--width, --depth, --copies: they define a shape, which needs no plan; give them to 'tally build'");
  }
  const std::vector<SketchCandidate> candidates = sketch_candidates(completed_count_min(options));
  if (json) {
    print_json(sketch_plan_json(candidates));
  } else {
    print(text_of(candidates, options.wanted.total_count.value_or(0)));
  }
  return ExitCode::success;
}

}  // namespace tally::cli

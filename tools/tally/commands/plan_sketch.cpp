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

/// What the sketches are expected to report after the stream.
std::string forecast_text(const std::vector<SketchCandidate>& candidates) {
  Table table({"rows", "mean error", "with conservative update", "width that would do", "memory"});
  for (const SketchCandidate& candidate : candidates) {
    if (!candidate.forecast) continue;
    const auto bytes = candidate.conservative_bytes();
    table.add_row({std::string(candidate.shape.scheme_name()),
                   fmt::format("{:.4g}", candidate.forecast->plain_mean_excess),
                   fmt::format("{:.4g}", candidate.forecast->conservative_mean_excess),
                   candidate.conservative_width ? std::to_string(*candidate.conservative_width) : "not known",
                   bytes ? human_bytes(static_cast<double>(*bytes)) : ""});
  }
  return table.text() + "\n" +
         wrapped(
             "Note: this table is for keys drawn by Zipf's law in random order. The mean error is that of "
             "keys that "
             "were never inserted. With conservative update it is predicted within a quarter; the width that "
             "would do keeps the largest error for such streams only.",
             2) +
         "\n";
}

}  // namespace

ExitCode plan_sketch(const ShapeOptions& options, const std::optional<ZipfStream>& stream, bool json) {
  if (options.count_min.is_given()) {
    throw std::invalid_argument(
        "--width, --depth, --copies: they define a shape, which needs no plan; give them to 'tally build'");
  }
  Requirements wanted = completed_count_min(options);
  if (stream && !wanted.total_count && !wanted.counter_bits) wanted.total_count = stream->num_insertions;
  const std::vector<SketchCandidate> candidates = sketch_candidates(wanted, stream);
  if (json) {
    print_json(sketch_plan_json(candidates));
  } else {
    print(text_of(candidates, wanted.total_count.value_or(0)));
    if (stream) print("\n" + forecast_text(candidates));
  }
  return ExitCode::success;
}

}  // namespace tally::cli

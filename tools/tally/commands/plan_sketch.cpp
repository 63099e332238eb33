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

std::string text_of(const std::vector<SketchCandidate>& candidates, double total_count) {
  Table table({"rows", "memory", "width", "depth", "copies", "bits", "max error", "P(larger error)"});
  for (const SketchCandidate& candidate : candidates) {
    const auto& shape = std::get<CountMinShape>(candidate.shape.shape);
    std::string excess = human_rate(candidate.bound.epsilon) + " of the sum";
    if (total_count != 0) {
      excess += fmt::format(" ({})", human_count(std::floor(candidate.bound.epsilon * total_count)));
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

/// What the sketches are expected to report after the stream, with plain and with conservative update.
std::string forecast_text(const std::vector<SketchCandidate>& candidates) {
  constexpr std::string_view unknown = "not known";
  Table table({"rows", "update", "mean error", "P(larger error)", "width that would do", "memory"});
  for (const SketchCandidate& candidate : candidates) {
    if (!candidate.forecast) continue;
    const CountForecast& forecast = *candidate.forecast;
    const auto add = [&](CounterUpdate update, const std::optional<double>& mean_excess,
                         const std::optional<double>& failure_probability,
                         const std::optional<std::uint64_t>& width) {
      const bool has_rate = failure_probability && candidate.has_independent_rows;
      table.add_row(
          {std::string(candidate.shape.scheme_name()), std::string(name_of(update)),
           mean_excess ? fmt::format("{:.4g}", *mean_excess) : std::string(unknown),
           has_rate ? human_rate(*failure_probability) : std::string(unknown),
           width ? std::to_string(*width) : std::string(unknown),
           width ? human_bytes(static_cast<double>(candidate.num_bytes_with(*width))) : std::string()});
    };
    add(CounterUpdate::plain, forecast.plain_mean_excess, forecast.plain_failure_probability,
        candidate.plain_width);
    add(CounterUpdate::conservative, forecast.conservative_mean_excess,
        forecast.conservative_failure_probability, candidate.conservative_width);
  }
  return table.text() + "\n" +
         wrapped(
             "Note: this table is for keys drawn by Zipf's law in random order, and for queries of keys that "
             "were never inserted. The larger error is one above that of the first table. The width that "
             "would do keeps the first table's error and probability for such streams only. With "
             "conservative update the mean error is predicted within a quarter, and the probability is twice "
             "the predicted one.",
             2) +
         "\n";
}

/// The sum for which counters are wide enough.
std::uint64_t total_count_of(const ZipfStream& stream) {
  const double total = std::ceil(stream.largest_total());
  if (total >= std::ldexp(1.0, 64))
    throw std::invalid_argument(fmt::format(
        "--weights: their sum may be as large as {:.4g}, and counters have 64 bits; divide the weights",
        total));
  return static_cast<std::uint64_t>(total);
}

}  // namespace

ExitCode plan_sketch(const ShapeOptions& options, const std::optional<ZipfStream>& stream, bool json) {
  if (options.count_min.is_given()) {
    throw std::invalid_argument(
        "--width, --depth, --copies: they define a shape, which needs no plan; give them to 'tally build'");
  }
  Requirements wanted = completed_count_min(options);
  if (stream && !wanted.total_count && !wanted.counter_bits) wanted.total_count = total_count_of(*stream);
  const std::vector<SketchCandidate> candidates = sketch_candidates(wanted, stream);
  if (json) {
    print_json(sketch_plan_json(candidates));
  } else {
    print(
        text_of(candidates, stream ? stream->total() : static_cast<double>(wanted.total_count.value_or(0))));
    if (stream) print("\n" + forecast_text(candidates));
  }
  return ExitCode::success;
}

}  // namespace tally::cli

#include "commands/plan_sketch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "files/shape_json.hpp"
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

std::vector<SketchCandidate> candidates_of(const CountMinOptions& options,
                                           const SharedSketchOptions& shared) {
  const auto candidate = [&](std::uint16_t scheme, RowLaw law, std::string_view source) {
    const FilterShape shape = options.shape(scheme, shared);
    return SketchCandidate{shape, bound_of(std::get<CountMinShape>(shape.shape), law), source};
  };
  std::vector<SketchCandidate> candidates{
      candidate(DefaultRows::file_id, DefaultRows::law, "Cormode and Muthukrishnan 2003")};
  try {
    candidates.push_back(
        candidate(TwoHashRows::file_id, TwoHashRows::law, "Kirsch and Mitzenmacher 2008, Theorem 9.1"));
  } catch (const std::invalid_argument&) {  // it needs at least twice the memory, which there may not be
  }
  return candidates;
}

constexpr std::string_view reason =
    "the bound is the same with half the width, which need not be a prime. Conservative update (--update) "
    "keeps "
    "the bound and errs less, but then sketches do not add up exactly";

std::string text_of(const std::vector<SketchCandidate>& candidates, std::uint64_t total_count) {
  Table table({"rows", "memory", "width", "depth", "copies", "bits", "too high by at most", "but for"});
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
         wrapped("Note: no count is ever too low.", 2) + "\n";
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

ExitCode plan_sketch(const CountMinOptions& options, const SharedSketchOptions& shared, bool json) {
  if (options.is_exact()) {
    throw std::invalid_argument(
        "--width, --depth, --copies: that is a shape, and needs no plan; give it to 'tally build'");
  }
  const std::vector<SketchCandidate> candidates = candidates_of(options, shared);
  if (json) {
    print_json(json_of(candidates));
  } else {
    print(text_of(candidates, options.total_count.value_or(0)));
  }
  return ExitCode::success;
}

}  // namespace tally::cli

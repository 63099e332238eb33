#include "bench/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "cli/flag_words.hpp"
#include "files/json_file.hpp"
#include "files/shape_json.hpp"

namespace tally::cli {
namespace {

constexpr double most_ns = 1e9;

const Json& member(const Json& json, const char* name) {
  const Json* const found = json.find(name);
  if (found == nullptr) throw std::invalid_argument(fmt::format("'{}' is missing", name));
  return *found;
}

double number_in(const Json& value) {
  if (const auto* const real = value.get_if<double>()) return *real;
  if (const auto* const whole = value.get_if<std::uint64_t>()) return static_cast<double>(*whole);
  return std::nan("");
}

double time_of(const Json& batches, Operation operation) {
  const char* const name = operation_names[static_cast<std::size_t>(operation)];
  const Json& value = member(member(batches, name), "median_ns");
  const double ns = number_in(value);
  if (ns > 0 && ns <= most_ns) return ns;
  throw std::invalid_argument(fmt::format(
      "'median_ns' of '{}' is {}; must be a number above 0, at most {:.0e}", name, value.dump(), most_ns));
}

MeasuredFilter figures_of(const Json& candidate) {
  const FilterShape shape = shape_from_json(member(candidate, "shape"));
  const Json& batches = member(candidate, "batches");
  return measured_filter(shape, [&](Operation operation) { return time_of(batches, operation); });
}

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw std::invalid_argument(fmt::format(
      "--figures: '{}': {}; give the output of 'tally bench --json' with the options of this plan", path,
      what));
}

}  // namespace

std::vector<MeasuredFilter> read_figures(const std::string& path) {
  const Json json = read_json(path, "--figures");
  const Json* const candidates = json.find("candidates");
  if (candidates == nullptr || candidates->elements().empty()) refuse(path, "it has no 'candidates'");
  std::vector<MeasuredFilter> all;
  for (const Json& candidate : candidates->elements()) {
    try {
      all.push_back(figures_of(candidate));
    } catch (const std::invalid_argument& error) {
      refuse(path, fmt::format("candidate {}: {}", all.size() + 1, without_structure(error.what())));
    }
    const auto has_last_shape = [&](const MeasuredFilter& other) { return other.shape == all.back().shape; };
    if (std::count_if(all.begin(), all.end(), has_last_shape) > 1)
      refuse(path, fmt::format("candidate {} has the shape of an earlier one", all.size()));
  }
  return all;
}

void require_own_figures(const std::string& path, const Plan& plan) {
  const auto is_own = [](const Candidate& candidate) {
    return candidate.operation_costs.source == CostSource::figures;
  };
  if (std::ranges::none_of(plan.candidates, is_own))
    refuse(path, "it has none of the structures of this plan");
}

}  // namespace tally::cli

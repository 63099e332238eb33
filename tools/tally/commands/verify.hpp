#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/options.hpp"
#include "plot/draw.hpp"
#include "shape/options.hpp"
#include "tally/any_filter/simulation.hpp"
#include "tally/theory/confidence.hpp"
#include "text/output.hpp"

// `tally verify` turns options into attempts (verify_attempts.cpp), simulates them and compares the results with the
// predictions (verify.cpp), and prints the outcome (verify_report.cpp).

namespace tally::cli {

/// For --scheme.
inline constexpr const char* every_scheme = "all";

/// The options of `tally verify`.
struct VerifyOptions {
  ShapeOptions shape{.ways = {.than_one_of_two = "",
                              .than_positions = "--false-positive-rate, or --file",
                              .than_keys = "--epsilon, or --width and --depth"}};
  std::optional<std::uint64_t> threshold;
  std::optional<std::uint64_t> num_keys;  ///< to insert per filter, and to plan for
  std::string file;
  std::string key_file;
  bool verify_file = true;
  std::optional<std::uint64_t> num_trials;
  std::optional<std::uint64_t> num_queries;
  std::uint64_t seed = default_seed;
  double confidence = 0.999;
  PlotOptions plot;
  bool json = false;
};

/// A shape to verify, with the predicted rate for keys that were never inserted.
struct Attempt {
  SimulationPlan plan;
  SchemeLaw law;
};

/// A measured rate, and whether the predicted one lies within its limits.
struct Verdict {
  MeasuredRate measured;
  double predicted = 0;
  LawKind law = LawKind::exact;
  theory::ProbabilityInterval limits;
  bool inside = false;

  /// Only exact laws determine the exit status.
  bool contradicts() const { return !inside && law == LawKind::exact; }
};

/// The result of an attempt.
struct Outcome {
  SimulationPlan plan;
  SimulationResult result;
  std::vector<Verdict> verdicts;

  bool is_good() const {
    return result.num_false_negatives == 0 && std::ranges::none_of(verdicts, &Verdict::contradicts);
  }
};

/// One attempt, or one for every scheme of the kind. Throws std::invalid_argument that names the flag that cannot be
/// used, and what opening --file throws.
std::vector<Attempt> attempts_of(const VerifyOptions& options);

/// With conservative update the measured rate may be lower than the predicted one.
inline bool is_conservative(const FilterShape& shape) {
  return std::visit(
      [](const auto& own) {
        if constexpr (requires { own.update; }) return own.update == CounterUpdate::conservative;
        return false;
      },
      shape.shape);
}

/// The outcomes as a table, as JSON, and as a plot. `outcomes` must not be empty.
std::string outcomes_text(const std::vector<Outcome>& outcomes, double confidence);
Json outcomes_json(const std::vector<Outcome>& outcomes, const VerifyOptions& options);
Figure outcomes_figure(const std::vector<Outcome>& outcomes);

}  // namespace tally::cli

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/options.hpp"
#include "plot/draw.hpp"
#include "shape/count_min_options.hpp"
#include "streams/simulation.hpp"
#include "tally/theory/confidence.hpp"
#include "text/output.hpp"

// `tally verify`: options become attempts (verify_attempts.cpp), those are simulated and judged (verify.cpp), and what
// comes out is printed (verify_report.cpp).

namespace tally::cli {

/// For --scheme.
inline constexpr const char* every_scheme = "all";

/// What `tally verify` is told.
struct VerifyOptions {
  std::string kind;
  std::string scheme;
  std::optional<std::uint64_t> num_positions;
  std::optional<std::uint32_t> num_hashes;
  std::optional<std::uint32_t> counter_bits;
  std::optional<std::uint64_t> threshold;
  bool conservative = false;
  CountMinOptions count_min;
  std::optional<std::uint64_t> num_keys;
  double false_positive_rate = 0;
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

/// A shape to try, with what is predicted of keys never inserted.
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

  /// The exit status is that of the laws that are meant to hold at this size.
  bool contradicts() const { return !inside && law == LawKind::exact; }
};

/// What became of an attempt.
struct Outcome {
  SimulationPlan plan;
  SimulationResult result;
  std::vector<Verdict> verdicts;

  bool is_good() const {
    return result.num_false_negatives == 0 && std::ranges::none_of(verdicts, &Verdict::contradicts);
  }
};

/// One, or one for every scheme of the kind. Throws std::invalid_argument that names the flag for what cannot be tried,
/// and what opening --file throws.
std::vector<Attempt> attempts_of(const VerifyOptions& options);

/// Under conservative update the measured rate may lie below the predicted one.
inline bool is_conservative(const FilterShape& shape) {
  return std::visit(
      [](const auto& own) {
        if constexpr (requires { own.update; }) return own.update == CounterUpdate::conservative;
        return false;
      },
      shape.shape);
}

/// A table, the same as JSON, and as a plot; `outcomes` are not empty.
std::string outcomes_text(const std::vector<Outcome>& outcomes, double confidence);
Json outcomes_json(const std::vector<Outcome>& outcomes, const VerifyOptions& options);
Figure outcomes_figure(const std::vector<Outcome>& outcomes);

}  // namespace tally::cli

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "plot/draw.hpp"
#include "shape/options.hpp"
#include "tally/any_filter/verification.hpp"
#include "text/output.hpp"

// `tally verify` turns options into simulations (verify_attempts.cpp), which the library runs and judges (verify.cpp), and
// prints the outcome (verify_report.cpp).

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

/// What a sketch promises of keys that were never inserted, and a simulation of its own to test it, as its queries ask for
/// another count.
struct SketchPromise {
  double failure_probability = 0;  ///< of a count that is too high by more than `error`
  std::uint64_t error = 0;
  SimulationPlan plan;
};

/// A simulation, and what it stands for.
struct Attempt {
  SimulationPlan plan;
  std::optional<SketchPromise> sketch = {};
  /// The number of insertions of the filter itself, if the simulated one is smaller.
  std::optional<std::uint64_t> num_insertions_of_original = {};
};

/// One attempt, or one for every scheme of the kind. Throws std::invalid_argument that names the flag that cannot be
/// used, and what opening --file throws.
std::vector<Attempt> attempts_of(const VerifyOptions& options);

/// What came out of an attempt.
struct Outcome : Verification {
  std::optional<std::uint64_t> error_of_sketch = {};  ///< that of its promise
  std::optional<std::uint64_t> num_insertions_of_original = {};
};

/// The outcomes as a table, as JSON, and as a plot. `outcomes` must not be empty.
std::string outcomes_text(const std::vector<Outcome>& outcomes, double confidence);
Json outcomes_json(const std::vector<Outcome>& outcomes, const VerifyOptions& options);
Figure outcomes_figure(const std::vector<Outcome>& outcomes);

}  // namespace tally::cli

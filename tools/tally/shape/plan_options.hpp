#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"
#include "input/key_reader.hpp"
#include "shape/options.hpp"

namespace tally::cli {

/// What the commands that compare all structures know about the keys and want.
struct PlanOptions {
  ShapeOptions shape;
  InputOptions sample;
  std::string histogram;
  std::optional<double> zipf;
};

/// The options of a plan. `of_keys` is the end of the description of --keys.
void add_plan_options(CommandLine app, PlanOptions& options, const std::string& of_keys = "");

/// The flag that gives the counts of the keys: --zipf, --histogram or --from.
std::string_view flag_of_histogram(const PlanOptions& options);

/// The requirements, after counting the sample or reading the histogram. Throws std::invalid_argument for options that
/// contradict each other.
Requirements requirements_of(const PlanOptions& options);

}  // namespace tally::cli

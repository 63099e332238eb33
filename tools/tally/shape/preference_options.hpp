#pragma once

#include "cli/command_line.hpp"
#include "tally/planner/requirements.hpp"

namespace tally::cli {

/// --fastest, --smallest and --balanced, at most one of them. For a command that has --slow-cells.
void add_preference_options(CommandLine app, Requirements& wanted);

/// "--fastest, --smallest or --balanced"
inline constexpr const char* preference_flags = "--fastest, --smallest or --balanced";

}  // namespace tally::cli

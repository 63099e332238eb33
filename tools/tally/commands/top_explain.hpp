#pragma once

#include "cli/command.hpp"
#include "commands/top_plan.hpp"

namespace tally::cli {

/// For --explain: prints what a run would keep, its memory and its errors. Reads nothing.
ExitCode explain_top(const TopOptions& options);

}  // namespace tally::cli

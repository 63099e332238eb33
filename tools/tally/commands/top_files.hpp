#pragma once

#include "cli/command.hpp"
#include "commands/top_plan.hpp"

namespace tally::cli {

/// `tally top --from`: prints the ranking of files that --save or `tally merge` wrote, all of them together. Throws
/// FileKindError for files that keep no keys, std::invalid_argument for files that do not merge and for a --share that they
/// cannot answer.
ExitCode run_top_from(const TopOptions& options);

}  // namespace tally::cli

#pragma once

#include "cli/command.hpp"
#include "commands/top_plan.hpp"

namespace tally::cli {

/// `tally top --from`: prints the ranking of files that --save or `tally merge` wrote, all of them together. Throws
/// FileKindError for files without keys, std::invalid_argument for files that cannot be merged and for a --share that is
/// too small for them.
ExitCode run_top_from(const TopOptions& options);

}  // namespace tally::cli

#pragma once

#include "cli/command.hpp"
#include "commands/top_plan.hpp"
#include "store/options.hpp"

namespace tally::cli {

/// `tally top --store`: counts the input in the store, and prints the most frequent keys of all writers.
ExitCode run_top_store(const TopOptions& options, const StoreOptions& store);

}  // namespace tally::cli

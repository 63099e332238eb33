#pragma once

#include "commands/over.hpp"

namespace tally::cli {

/// For --explain: prints what a run would keep, its memory and its errors. Reads nothing.
ExitCode explain_over_threshold(const OverOptions& options);
ExitCode explain_over_sums(const OverOptions& options);

}  // namespace tally::cli

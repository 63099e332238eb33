#pragma once

#include "kmers/options.hpp"

namespace tally::cli {

/// For --explain: prints what a run would keep, its memory and its errors. Reads nothing.
ExitCode explain_kmers(const KmersOptions& options);

}  // namespace tally::cli

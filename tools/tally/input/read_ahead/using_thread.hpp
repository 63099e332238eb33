#pragma once

#include "input/read_ahead/supply.hpp"
#include "input/read_ahead/work_for_two.hpp"

namespace tally::cli {

/// The first thread: uses the sieved pieces in the order of the input. While there is none, it reads and hashes a further
/// one. Throws std::runtime_error for an invalid key that is not skipped.
void run_using_thread(const InputOptions& input, const WorkForTwo& work, Pieces& pieces, Supply& supply,
                      bool quiet, KeyTotals& totals);

}  // namespace tally::cli

#pragma once

#include <string>

namespace tally::cli {

/// Lets loops with vector instructions use the set that TALLY_INSTRUCTION_SET names in place of the best that this
/// processor has. Called before any such loop, while there is one thread. Throws std::invalid_argument where this
/// program was compiled for no such set, or the processor does not have it.
void take_instruction_set_from_environment();

/// The set in use, and all that this program was compiled for.
std::string instruction_set_text();

}  // namespace tally::cli

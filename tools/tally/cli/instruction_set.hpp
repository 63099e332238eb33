#pragma once

#include <string>

namespace tally::cli {

/// Makes loops with vector instructions use the instruction set that TALLY_INSTRUCTION_SET names, instead of
/// the best one of this processor. Called before any such loop, while there is one thread. Throws
/// std::invalid_argument if this program was not compiled for that set, or the processor does not have it.
void take_instruction_set_from_environment();

/// The instruction set in use, and all those that this program was compiled for.
std::string instruction_set_text();

}  // namespace tally::cli

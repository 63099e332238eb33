#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::detail {

/// Two random odd numbers, the same for the whole process, that choose the slots of hash tables. So even
/// someone who chooses both keys and seed cannot make many keys collide in one slot. No answer, and no order
/// of answers, may depend on them.
struct ProcessSalt {
  std::uint64_t first = 1;
  std::uint64_t second = 1;
};

/// Drawn at the first call. Throws std::exception if the system has no random numbers.
TALLY_EXPORT const ProcessSalt& process_salt();

}  // namespace tally::detail

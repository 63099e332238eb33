#pragma once

#include <cstdint>

namespace tally::detail {

/// Two random odd numbers, the same for the whole process, that choose the slots of hash tables: whoever chooses keys, and
/// the seed with them, cannot make many of them meet in one slot. No answer may depend on them, nor its order.
struct ProcessSalt {
  std::uint64_t first = 1;
  std::uint64_t second = 1;
};

/// Drawn at the first call. Throws std::exception where the system has no random numbers.
const ProcessSalt& process_salt();

}  // namespace tally::detail

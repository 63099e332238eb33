#pragma once

#include <cstdint>

namespace tally {

/// What an insertion did to the key's counters.
enum class InsertResult : std::uint8_t {
  counted,   ///< every counter went up
  saturated  ///< some counter was at its maximum already: it sticks, and `count` becomes a lower bound
};

/// What became of a remove.
enum class RemoveResult : std::uint8_t {
  removed,    ///< every counter went down
  saturated,  ///< the key is removed where its counters still count; those that stick stay up
  refused     ///< the key is provably absent; nothing changed
};

/// Whether a key has reached a threshold.
enum class ThresholdState : std::uint8_t { below, at_least };

/// How often a key was inserted, as far as the filter knows: never less than the truth,
/// unless `saturated`, where the truth may be any number from `value` on.
struct Count {
  std::uint64_t value = 0;
  bool saturated = false;

  friend bool operator==(const Count&, const Count&) = default;
};

}  // namespace tally

#pragma once

#include <cstdint>

namespace tally {

/// What an insertion did to the key's counters.
enum class InsertResult : std::uint8_t {
  counted,    ///< every counter went up, none to its maximum: a remove undoes it exactly
  saturated,  ///< some counter is at its maximum now (or was before): it sticks, and never comes down
  full        ///< there was no room, and nothing changed; only structures that can be full say so
};

/// What became of an insertion into a DLeftTable.
enum class DLeftInserted : std::uint8_t { plainly, by_moves, no_cell, no_spill };

inline bool is_in(DLeftInserted how) noexcept {
  return how == DLeftInserted::plainly || how == DLeftInserted::by_moves;
}

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

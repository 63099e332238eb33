#pragma once

#include <cstdint>

namespace tally {

/// What an insertion did to the key's counters.
enum class InsertResult : std::uint8_t {
  counted,    ///< every counter was raised, none to its maximum: a removal undoes it exactly
  saturated,  ///< some counter was or is now at its maximum: it stays there and never comes down
  full        ///< there was no room, and nothing changed; only structures that can fill up return this
};

/// What an insertion found: whether the key was in the structure before.
enum class InsertOutcome : std::uint8_t {
  new_key,  ///< some bit or counter of the key was 0: it was certainly absent, and now it is in
  seen,     ///< none was 0: it was present, or taken for present, and now it is in once more
  full      ///< there was no room, and nothing changed; only structures that can fill up return this
};

/// The result of an insertion into a DLeftTable.
enum class DLeftInserted : std::uint8_t { plainly, by_moves, no_cell, no_spill };

inline bool is_in(DLeftInserted how) noexcept {
  return how == DLeftInserted::plainly || how == DLeftInserted::by_moves;
}

/// The result of a removal.
enum class RemoveResult : std::uint8_t {
  removed,    ///< every counter was lowered
  saturated,  ///< the key is removed from the counters that are not saturated; the saturated ones stay
  refused     ///< the key is provably absent; nothing changed
};

/// Whether a key has reached a threshold.
enum class ThresholdState : std::uint8_t { below, at_least };

/// How often a key was inserted, according to the filter: never below the truth, unless `saturated`; then the
/// truth may be any number from `value` on.
struct Count {
  std::uint64_t value = 0;
  bool saturated = false;

  friend bool operator==(const Count&, const Count&) = default;
};

}  // namespace tally

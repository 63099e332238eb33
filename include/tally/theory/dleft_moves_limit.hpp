#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// A d-left table of c cells per bucket that makes room by moves (DLeftMoves::search), at one load.
struct DLeftMovesLimit {
  double full_share = 0;         ///< of the buckets
  double moves_probability = 0;  ///< that all d buckets of a new element are full, so that it needs moves
  double room_probability = 0;   ///< that a bucket which the search for moves looks at has room
};

/// The limit of many buckets, at `average_load` elements per bucket. The state of a bucket is (D, r): D elements have it among
/// their d buckets, and r <= c of them are in it. A new element raises D of d random buckets, and goes to the least loaded of
/// them, ties going left. If all are full, a chain of moves ends in some bucket with room: its last move takes one of the D - r elements that
/// have this bucket, but are elsewhere, and every such pair of an element and a bucket with room is equally likely. A
/// deletion takes a random element out of its own bucket, and out of D of its d - 1 others.
///
/// An approximation: which buckets an element could move to is taken as independent of where it is. room_probability comes to
/// 0 near dleft_orientable_load. Takes up to seconds for large d c.
///
/// @param d                  2 to 8
/// @param c                  1 to 64, with d c at most 256
/// @param average_load       above 0, and below dleft_orientable_load
/// @param steps_per_element  replacements per element after the filling, 0 to 16 (see dleft_loads)
/// @throws std::invalid_argument for anything else
/// @source ours
TALLY_EXPORT DLeftMovesLimit dleft_moves_limit(std::uint32_t d, std::uint32_t c, double average_load,
                                               double steps_per_element);

}  // namespace tally::theory

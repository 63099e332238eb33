#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// The largest average load, in elements per bucket, of a d-left table with c cells per bucket: c if even
/// full buckets on average would meet the target. Divide by c for the fraction of the cells. It is the load
/// of distinct fingerprints, for a table that never moves an element; for moves see dleft_moves_limit.hpp.
/// d 1 to 8, c 1 to 255, targets in (0, 1); else std::invalid_argument. Found to a relative accuracy of 1e-10,
/// from below.
/// @source ours, over the fluid limit of Bonomi et al. 2006

/// The share of all buckets whose load would be above c is at most `share`.
/// @param steps_per_element as for dleft_loads(): `insert_only`, `steady_state` or between
TALLY_EXPORT double dleft_safe_load_for_share(std::uint32_t d, std::uint32_t c, double share,
                                              double steps_per_element);

/// The probability that any insertion finds no room is at most `failure_probability`, over a lifetime: B
/// buckets per subtable (at least 1) are filled to the load, then N times a random element is deleted and a
/// new one inserted. Each of these N steps is treated as in the steady state; N = 0 is filling only.
TALLY_EXPORT double dleft_safe_load(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t N,
                                    double failure_probability);

}  // namespace tally::theory

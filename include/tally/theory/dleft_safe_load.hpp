#pragma once

#include <cstdint>

namespace tally::theory {

/// The largest average load, in elements per bucket, that a d-left table of c cells a bucket carries: c where
/// even full buckets on average would keep the target. Divide by c for the fraction of the cells. It is
/// the load of distinct fingerprints, for a table that never moves an element. What moves add is no fluid
/// limit; it is to be measured. d 1 to 8, c 1 to 255, targets in (0, 1); else std::invalid_argument.
/// Found to 1e-10 of itself, from below.
/// @source ours, over the fluid limit of Bonomi et al. 2006

/// The share of all buckets whose load would be above c stays at or below `share`.
/// @param steps_per_element as for dleft_loads(): `insert_only`, `steady_state` or between
double dleft_safe_load_for_share(std::uint32_t d, std::uint32_t c, double share, double steps_per_element);

/// The probability that any insertion finds no room stays at or below `failure_probability`, over a lifetime:
/// B buckets a subtable (at least 1) are filled to the load, then N times a random element is deleted and a
/// new one inserted. Every one of these N counts as in the steady state; N = 0 is filling only.
double dleft_safe_load(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t N,
                       double failure_probability);

}  // namespace tally::theory

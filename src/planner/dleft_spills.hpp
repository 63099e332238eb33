#pragma once

// Only for src/planner/: the side tables of d-left filters.

#include <cstdint>
#include <string_view>

#include "tally/planner/requirements.hpp"
#include "tally/shapes/compact_dleft.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally::planner_detail {

/// The expected number of fingerprints whose shared count exceeds a cell, at the largest size of the filter. Without a
/// histogram, the largest one that the requirements allow.
double expected_spills(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys);

/// The entries that the side table needs for the planned life. Never rises with the number of buckets, if there are at
/// least as many fingerprints as keys.
std::uint64_t spills_needed(const DLeftShape& shape, const Requirements& requirements,
                            std::uint64_t num_keys);

/// Upper bound on the probability that the side table of the shape is ever too small in the planned life.
double side_table_failure(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys);

/// The same number of entries for a compact filter, whose keys do not repeat.
std::uint64_t spills_needed(const CompactDLeftShape& shape, const Requirements& requirements,
                            std::uint64_t num_keys);

/// Throws std::invalid_argument unless failure_probability is 1e-15 to 0.5 or not given.
void require_failure_probability(std::string_view structure, const Requirements& requirements);

/// Throws std::invalid_argument unless num_insertions is possible for this number of keys, or not given.
void require_insertions(std::string_view structure, const Requirements& requirements);

/// The most entries that this number of slots can hold: two thirds, minus one.
std::uint64_t capacity_of(std::uint64_t num_slots);

}  // namespace tally::planner_detail

#pragma once

#include "tally/shapes/filter_kind.hpp"
#include "text/json.hpp"

// What JavaScript can call, by name; call.cpp has the table, and web/README.md says which arguments and results each has.
// They throw std::invalid_argument for arguments that are wrong, and std::bad_alloc.

namespace tally::page {

using cli::Json;

// plans.cpp
Json plan(const Json& arguments);
Json plan_sketch(const Json& arguments);

// errors.cpp
Json error_by_keys(const Json& arguments);

// memories.cpp
Json error_by_memory(const Json& arguments);

// summaries.cpp
Json summary_costs(const Json& arguments);

// simulations.cpp
Json simulate(const Json& arguments);

// filters.cpp
Json filter_new(const Json& arguments);
Json filter_insert(const Json& arguments);
Json filter_remove(const Json& arguments);
Json filter_query(const Json& arguments);
Json filter_free(const Json& arguments);

// filter_dump.cpp
Json filter_dump(const Json& arguments);

// formulas.cpp
Json theory(const Json& arguments);

// count_min_excess.cpp: how much too high a sketch counts, its bound and a measurement with random keys
Json count_min_excess(const Json& arguments);

// kinds.cpp: the properties of every kind of structure
Json kinds(const Json& arguments);
/// Whether other nodes can have a copy of a filter of this kind.
bool has_summary(FilterKind kind) noexcept;

}  // namespace tally::page

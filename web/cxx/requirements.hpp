#pragma once

#include "arguments.hpp"
#include "tally/planner/requirements.hpp"

namespace tally::page {

/// The requirements in fields with the names of tally::Requirements, without those of sketches. Instead of num_keys, there
/// may be a "histogram" (a text as `tally plan --histogram` reads it, or pairs of a count and a number of keys) or a "zipf"
/// with num_keys, num_insertions and exponent. `scheme` of the result points into the JSON.
Requirements requirements_of(Arguments& arguments);

}  // namespace tally::page

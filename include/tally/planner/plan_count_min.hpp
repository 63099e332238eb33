#pragma once

#include "tally/export.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/count_min.hpp"

namespace tally {

/// For CountMinSketch with independent or the default rows. Of epsilon, failure_probability and memory_bytes give
/// exactly two:
///
///   epsilon and failure probability   the width and depth of the theorem
///   memory and failure probability    the theorem's depth, and the widest rows that fit
///   memory and epsilon                the theorem's width, and as many rows as fit
///
/// The bound of the sketch (bound()) is at least as good as required. Also reads total_count, counter_bits and
/// update. Throws std::invalid_argument for requirements that are out of range, or that no sketch with at most 2^56
/// counters and 1024 rows meets.
/// @source theory::count_min_width, theory::count_min_depth (Cormode and Muthukrishnan 2003)
[[nodiscard]] TALLY_EXPORT CountMinShape plan_count_min(const Requirements& requirements);

/// The same for TwoHashRows: a prime width, and more than one copy if one fails too often. For the same epsilon the
/// width is at least twice that of the classic sketch.
/// @source Kirsch and Mitzenmacher 2008, Theorem 9.1 and section 9.2
[[nodiscard]] TALLY_EXPORT CountMinShape plan_count_min_two_hash(const Requirements& requirements);

}  // namespace tally

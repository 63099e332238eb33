#pragma once

// Only for src/planner/: keys drawn by Zipf's law, as histograms.

#include <cstdint>
#include <string_view>

#include "tally/planner/zipf_stream.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::planner_detail {

/// Throws std::invalid_argument for a stream out of range.
void check_stream(std::string_view function, const ZipfStream& stream);

/// The keys by the sum of their weights, in units of `unit`, which is at least 1. Weights are rounded to units at random, up or down,
/// with their mean unchanged; large ones to about ten percent. Sums of `limit` units or more, up to 10,000, are one group.
theory::CountHistogram histogram_in_units(const ZipfStream& stream, double unit, std::uint64_t limit);

}  // namespace tally::planner_detail

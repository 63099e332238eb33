#pragma once

#include <string>

#include "tally/sketches/count_min_bound.hpp"

namespace tally::cli {

/// "at most 0.0136% of the sum of all weights too high, with a probability of 98.2%"
std::string bound_text(const CountMinBound& bound);

}  // namespace tally::cli

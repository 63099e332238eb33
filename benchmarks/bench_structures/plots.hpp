#pragma once

#include <string>
#include <vector>

#include "measured.hpp"

namespace tally::bench {

/// Draws PREFIX<keys>_time.svg (lookup times by false positive rate) and PREFIX<keys>_space.svg (bits per key by false
/// positive rate) with gnuplot: a point with its name for every structure that had a false positive. Throws
/// std::runtime_error if gnuplot fails.
void draw_plots(const std::string& prefix, const std::vector<Measured>& all);

}  // namespace tally::bench

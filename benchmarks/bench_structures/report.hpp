#pragma once

#include <string>
#include <vector>

#include "measured.hpp"
#include "text/json.hpp"

namespace tally::bench {

/// Tables of times and of their ratios to a1 and a2.
std::string tables_of(const std::vector<Measured>& all);

/// All numbers: for each structure its memory, rates, and the median, least value and quartiles of each time, with the
/// medians of the rounds' ratios to a1 and a2.
cli::Json json_of(const std::vector<Measured>& all, bool hashed);

}  // namespace tally::bench

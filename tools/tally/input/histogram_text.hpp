#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/theory/compound_poisson.hpp"

namespace tally::cli {

/// The numbers in lines of two: a whole one and a real one. Empty lines and lines that begin with # are ignored. Throws
/// std::invalid_argument that names the line, after `name`; `meaning` says what the numbers are.
std::vector<std::pair<std::uint64_t, double>> pairs_of_text(std::string_view text, const std::string& name,
                                                            std::string_view meaning);

/// The histogram in lines "count number_of_keys"; empty lines and lines that begin with # are ignored. Counts of `limit` or
/// more are added up as one group. Throws std::invalid_argument that names the line, after `name`.
theory::CountHistogram histogram_of_text(std::string_view text, const std::string& name, std::uint64_t limit);

}  // namespace tally::cli

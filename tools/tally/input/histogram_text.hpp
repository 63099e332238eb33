#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tally/theory/compound_poisson.hpp"

namespace tally::cli {

/// The histogram in lines "count number_of_keys"; empty lines and lines that begin with # are ignored. Counts of `limit` or
/// more are added up as one group. Throws std::invalid_argument that names the line, after `name`.
theory::CountHistogram histogram_of_text(std::string_view text, const std::string& name, std::uint64_t limit);

}  // namespace tally::cli

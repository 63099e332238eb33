#pragma once

// Only for src/shapes/.

#include <string_view>

#include "tally/shapes/counting_bloom.hpp"

namespace tally::detail {

/// check_shape for a structure with counters.
void check_counters(std::string_view structure, const CountingBloomShape& shape);

}  // namespace tally::detail

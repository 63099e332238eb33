#pragma once

#include <algorithm>
#include <cstdint>

namespace tally::cli {

/// The counts from which on a histogram is one group: large enough for the threshold and for the saturation of 8-bit
/// counters; see compound_poisson.hpp for the limit.
inline std::uint64_t histogram_limit(std::uint64_t threshold) {
  return std::min<std::uint64_t>(std::max<std::uint64_t>(threshold, 256), 10'000);
}

}  // namespace tally::cli

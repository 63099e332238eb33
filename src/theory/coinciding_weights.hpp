#pragma once

// Only for src/theory/: the weights of coinciding positions.

#include <algorithm>
#include <cstdint>
#include <span>

#include "theory/detail.hpp"

namespace tally::theory::detail {

/// w_j, of which the last one is also that of all further j.
inline double weight_of(std::span<const double> w, std::uint64_t j) {
  return w[std::min<std::size_t>(j, w.size()) - 1];
}

inline void require_weights(const char* function, std::uint64_t m, std::uint32_t k,
                            std::span<const double> w) {
  require_m_and_k(function, m, k);
  require(!w.empty(), function, "w.size()", std::uint64_t{w.size()}, "at least 1");
  require(w[0] > 0, function, "w", w[0], "above 0 for one position");
  for (const double weight : w) require(weight >= 0 && weight <= 1, function, "w", weight, "0 to 1");
}

}  // namespace tally::theory::detail

#include "streams/threshold/exact_counts.hpp"

#include <algorithm>
#include <tuple>

namespace tally::detail {

std::vector<std::pair<Hash128, std::uint32_t>> ExactCounts::sorted() const {
  std::vector<std::pair<Hash128, std::uint32_t>> all(counts.begin(), counts.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.low, a.first.high) < std::tie(b.first.low, b.first.high);
  });
  return all;
}

}  // namespace tally::detail

#include "tally/streams/ranking.hpp"

#include <algorithm>
#include <tuple>

namespace tally {
namespace {

void keep_greatest(std::vector<KeyCount>& keys, std::uint64_t num_keys) {
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(num_keys, keys.size()));
  std::partial_sort(keys.begin(), end, keys.end(), [](const KeyCount& a, const KeyCount& b) {
    return std::tie(b.count, a.error, a.key) < std::tie(a.count, b.error, b.key);
  });
  keys.erase(end, keys.end());
}

}  // namespace

Ranking top_of(Ranking all, std::uint64_t num_keys) {
  num_keys = std::min<std::uint64_t>(num_keys, all.keys.size());
  keep_greatest(all.keys, num_keys + 1);
  all.bound_of_others = all.floor;
  if (all.keys.size() > num_keys) {
    all.bound_of_others = std::max(all.floor, all.keys.back().count);
    all.keys.pop_back();
  }
  return all;
}

Ranking above_share_of(Ranking all, double share) {
  keep_greatest(all.keys, all.keys.size());
  const auto end = std::find_if(all.keys.begin(), all.keys.end(), [&](const KeyCount& key) {
    return !is_above_share(key.count, share, all.total);
  });
  all.bound_of_others = std::max(all.floor, end == all.keys.end() ? 0 : end->count);
  all.keys.erase(end, all.keys.end());
  return all;
}

}  // namespace tally

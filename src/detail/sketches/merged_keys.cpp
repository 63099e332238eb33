#include "tally/detail/sketches/merged_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "tally/detail/checked_math.hpp"

namespace tally::detail {
namespace {

// The keys of both sides, each once, with the counts and errors for both streams together.
std::vector<KeyCount> union_of(const KeysToMerge& a, const KeysToMerge& b) {
  std::vector<KeyCount> all;
  all.reserve(a.keys.size() + b.keys.size());
  const auto append = [&](const KeysToMerge& these, const KeysToMerge& those, bool with_common) {
    for (std::uint32_t i = 0; i < these.keys.size(); ++i) {
      KeyCount sum = these.keys.key_count(i);
      const std::uint32_t j = those.keys.find(sum.digest);
      const bool is_common = j != CountedKeys::none;
      if (is_common && !with_common) continue;
      const std::uint64_t most = is_common ? 0 : those.most_before(sum.digest);
      sum.count = saturating_add(sum.count, is_common ? those.keys[j].count : most);
      sum.error = saturating_add(sum.error, is_common ? those.keys[j].error : most);
      all.push_back(sum);
    }
  };
  append(a, b, true);
  append(b, a, false);
  return all;
}

}  // namespace

MergedKeys MergedKeys::of(const KeysToMerge& a, const KeysToMerge& b, std::string_view structure) {
  std::vector<KeyCount> all = union_of(a, b);
  // Ties are broken by the bytes, so that the result does not depend on the order of the tables.
  std::ranges::sort(all, [](const KeyCount& x, const KeyCount& y) {
    return std::tie(y.count, x.error, x.key) < std::tie(x.count, y.error, y.key);
  });
  const std::size_t num_kept = std::min<std::size_t>(all.size(), a.keys.capacity());
  const std::uint64_t both_floors = saturating_add(a.floor, b.floor);

  MergedKeys merged{CountedKeys::with_room(num_kept, a.keys.capacity(), structure), both_floors, {}};
  merged.left_out.reserve(all.size() - num_kept);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const KeyCount& key = all[i];
    if (i >= num_kept) {
      merged.floor = std::max(merged.floor, key.count);
      merged.left_out.push_back({key.digest, key.least()});
      continue;
    }
    const std::uint64_t raise = both_floors - std::min(both_floors, key.count);
    merged.keys.add(key.key, {key.digest, key.count + raise, key.error + raise});
  }
  return merged;
}

}  // namespace tally::detail

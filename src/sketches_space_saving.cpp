#include "tally/sketches/space_saving.hpp"

#include <algorithm>
#include <array>

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

constexpr std::size_t num_ahead = 16;

}  // namespace

void SpaceSaving::add_digest(std::string_view key, Hash128 digest, std::uint64_t salted,
                             std::uint64_t weight) {
  if (weight == 0) return;
  if (const std::uint32_t i = keys_.find(digest, salted); i != CountedKeys::none) {
    keys_.raise(i, weight);
  } else if (!keys_.is_full()) {
    keys_.add(key, {digest, weight, 0});
  } else {
    const std::uint64_t least = keys_[keys_.least()].count;
    keys_.replace_least(key, {digest, detail::saturating_add(least, weight), least});
    floor_ = least;
  }
  total_count_ = detail::saturating_add(total_count_, weight);
}

void SpaceSaving::add_batch(std::span<const std::string_view> keys, std::span<const Hash128> digests,
                            std::span<const std::uint64_t> weights) {
  std::array<std::uint64_t, num_ahead> salted;  // of the next ones, in turn
  const auto prepare = [&](std::size_t i) {
    salted[i % num_ahead] = keys_.salted(digests[i]);
    keys_.prefetch(salted[i % num_ahead]);
  };
  for (std::size_t i = 0; i < std::min(num_ahead, keys.size()); ++i) prepare(i);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t own = salted[i % num_ahead];
    if (i + num_ahead < keys.size()) prepare(i + num_ahead);
    add_digest(keys[i], digests[i], own, weights.empty() ? 1 : weights[i]);
  }
}

void SpaceSaving::clear() noexcept {
  keys_.clear();
  total_count_ = 0;
  floor_ = 0;
}

KeyCount SpaceSaving::estimate(std::string_view key, Hash128 digest) const {
  const std::uint32_t i = keys_.find(digest);
  return i == CountedKeys::none ? KeyCount{key, digest, floor_, floor_} : keys_.key_count(i);
}

// A key that the other side does not keep may have come there as often as the floor says. What is left out
// then counts no more than what is kept.
void SpaceSaving::merge(const SpaceSaving& other) {
  require_same_hasher("SpaceSaving", hasher_, other.hasher_);
  detail::require_same("SpaceSaving", "capacity", capacity(), other.capacity());
  std::vector<KeyCount> all;
  const auto add_all = [&](const CountedKeys& these, const CountedKeys& those, std::uint64_t floor,
                           bool also_common) {
    for (std::uint32_t i = 0; i < these.size(); ++i) {
      KeyCount sum = these.key_count(i);
      const std::uint32_t j = those.find(sum.digest);
      if (j != CountedKeys::none && !also_common) continue;
      sum.count = detail::saturating_add(sum.count, j == CountedKeys::none ? floor : those[j].count);
      sum.error = detail::saturating_add(sum.error, j == CountedKeys::none ? floor : those[j].error);
      all.push_back(sum);
    }
  };
  add_all(keys_, other.keys_, other.floor_, true);
  add_all(other.keys_, keys_, floor_, false);
  std::stable_sort(all.begin(), all.end(),
                   [](const KeyCount& a, const KeyCount& b) { return a.count > b.count; });
  CountedKeys merged(capacity(), "SpaceSaving");
  const std::size_t num_kept = std::min<std::size_t>(all.size(), capacity());
  for (std::size_t i = 0; i < num_kept; ++i)
    merged.add(all[i].key, {all[i].digest, all[i].count, all[i].error});
  floor_ = detail::saturating_add(floor_, other.floor_);
  if (num_kept < all.size()) floor_ = std::max(floor_, all[num_kept].count);
  keys_ = std::move(merged);
  total_count_ = detail::saturating_add(total_count_, other.total_count_);
}

}  // namespace tally

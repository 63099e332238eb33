#include "tally/sketches/space_saving.hpp"

#include <algorithm>
#include <array>

#include "tally/detail/parameter_error.hpp"
#include "tally/detail/sketches/merged_keys.hpp"

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
  detail::require_one_per_key("add_batch", "digests", keys.size(), digests.size());
  if (!weights.empty()) detail::require_one_per_key("add_batch", "weights", keys.size(), weights.size());
  std::array<std::uint64_t, num_ahead> salted;  // of the next keys, in turn
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

KeyCount SpaceSaving::estimate(std::string_view key, Hash128 digest) const& {
  const std::uint32_t i = keys_.find(digest);
  return i == CountedKeys::none ? KeyCount{key, digest, floor_, floor_} : keys_.key_count(i);
}

void SpaceSaving::merge(const SpaceSaving& other) {
  require_same_hasher("SpaceSaving", hasher_, other.hasher_);
  detail::require_same("SpaceSaving", "capacity", capacity(), other.capacity());
  const auto side = [](const SpaceSaving& own) {
    return detail::KeysToMerge{own.keys_, own.floor_, [&own](Hash128) { return own.floor_; }};
  };
  detail::MergedKeys merged = detail::MergedKeys::of(side(*this), side(other), "SpaceSaving");
  total_count_ = detail::saturating_add(total_count_, other.total_count_);
  keys_ = std::move(merged.keys);
  floor_ = merged.floor;
}

}  // namespace tally

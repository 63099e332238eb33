#include "streams/top.hpp"

#include <algorithm>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "streams/exact_check.hpp"
#include "streams/state.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::cli {

TopStream::TopStream(const Options& options)
    : options_(options),
      clock_(options.window ? std::max<Nanoseconds>(1, *options.window / options.num_slots) : 1,
             options.window.value_or(1)) {
  const std::size_t num_slots = options.window ? std::size_t{options.num_slots} + 1 : 1;
  slots_.reserve(num_slots);
  for (std::size_t i = 0; i < num_slots; ++i) {
    if (options.space_saving) {
      slots_.emplace_back(std::in_place_type<SpaceSaving>, options.capacity, options.hasher);
    } else {
      slots_.emplace_back(std::in_place_type<TopKeys<>>, options.capacity, options.sketch, options.hasher);
    }
  }
}

void TopStream::add(const Records& records) {
  const auto use = [&](const Records& part) {
    num_counted_ += part.size();
    std::visit([&](auto& slot) { slot.add_batch(part.keys, part.digests, part.weights); }, slots_[current_]);
  };
  if (!options_.window) return use(records);
  clock_.split(records, use, [&](std::uint64_t num_steps) { pass(num_steps); });
}

void TopStream::pass(std::uint64_t num_steps) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(num_steps, slots_.size()); ++i) {
    current_ = current_ + 1 == slots_.size() ? 0 : current_ + 1;
    std::visit([](auto& slot) { slot.clear(); }, slots_[current_]);
  }
}

void TopStream::save(StateWriter& state) const {
  state.number(num_counted_);
  state.number(current_);
  write(state, clock_);
  for (const Slot& slot : slots_) {
    std::visit(
        [&](const auto& it) {
          state.number(it.total_count());
          state.number(it.floor());
          write(state, it.candidates());
          if constexpr (std::is_same_v<std::decay_t<decltype(it)>, TopKeys<>>)
            state.filter(AnyFilter(it.sketch()));
        },
        slot);
  }
}

void TopStream::restore(StateReader& state, const std::optional<HashKey>& key) {
  num_counted_ = state.number();
  current_ = state.number_at_most(slots_.size() - 1);
  read(state, clock_);
  for (Slot& slot : slots_) {
    const std::uint64_t total = state.number();
    const std::uint64_t floor = state.number();
    CountedKeys keys = read_counted_keys(state, options_.capacity);
    if (options_.space_saving) {
      slot.emplace<SpaceSaving>(std::move(keys), options_.hasher, total, floor);
      continue;
    }
    auto sketch = state.filter_of<CountMinSketch<>>(options_.hasher, key);
    if (sketch.shape() != options_.sketch) state.fail("a sketch of another shape");
    slot.emplace<TopKeys<>>(std::move(sketch), std::move(keys), total, floor);
  }
}

Ranking TopStream::candidates() const {
  if (slots_.size() == 1)
    return std::visit([](const auto& slot) { return candidates_of(slot); }, slots_.front());
  Ranking ranking;
  std::unordered_set<Hash128, HashOfDigest> seen;
  for (const Slot& slot : slots_) {
    const Ranking own = std::visit([](const auto& it) { return candidates_of(it); }, slot);
    ranking.total += own.total;
    ranking.floor += own.floor;
    for (const KeyCount& key : own.keys) {
      if (seen.insert(key.digest).second) ranking.keys.push_back(key);
    }
  }
  for (KeyCount& key : ranking.keys) {
    key.count = key.error = 0;
    for (const Slot& slot : slots_) {
      const KeyCount part =
          std::visit([&](const auto& it) { return it.estimate(key.key, key.digest); }, slot);
      key.count += part.count;
      key.error += part.error;
    }
  }
  return ranking;
}

std::vector<std::byte> TopStream::file() const {
  return std::visit([](const auto& slot) { return serialize(slot); }, slots_.front());
}

std::uint64_t TopStream::num_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += std::visit([](const auto& it) { return it.num_bytes(); }, slot);
  return sum;
}

}  // namespace tally::cli

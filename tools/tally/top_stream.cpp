#include "top_stream.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "exact_check.hpp"
#include "stream_state.hpp"

namespace tally::cli {
namespace {

void keep_greatest(std::vector<KeyCount>& keys, std::uint64_t num_keys) {
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(num_keys, keys.size()));
  std::partial_sort(keys.begin(), end, keys.end(), [](const KeyCount& a, const KeyCount& b) {
    return std::tie(b.count, a.error, a.key) < std::tie(a.count, b.error, b.key);
  });
  keys.erase(end, keys.end());
}

}  // namespace

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

TopStream::Ranking TopStream::all() const {
  Ranking ranking;
  std::unordered_set<Hash128, HashOfDigest> seen;
  for (const Slot& slot : slots_) {
    std::visit(
        [&](const auto& it) {
          ranking.total += it.total_count();
          ranking.floor += it.floor();
          for (std::uint32_t i = 0; i < it.candidates().size(); ++i) {
            const KeyCount key = it.candidates().key_count(i);
            if (slots_.size() == 1 || seen.insert(key.digest).second) ranking.keys.push_back(key);
          }
        },
        slot);
  }
  if (slots_.size() == 1) return ranking;
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

TopStream::Ranking TopStream::top(std::uint64_t num_keys) const {
  Ranking ranking = all();
  keep_greatest(ranking.keys, num_keys + 1);
  ranking.bound_of_others = ranking.floor;
  if (ranking.keys.size() > num_keys) {
    ranking.bound_of_others = std::max(ranking.floor, ranking.keys.back().count);
    ranking.keys.pop_back();
  }
  return ranking;
}

TopStream::Ranking TopStream::above_share(double share) const {
  Ranking ranking = all();
  keep_greatest(ranking.keys, ranking.keys.size());
  const auto end = std::find_if(ranking.keys.begin(), ranking.keys.end(), [&](const KeyCount& key) {
    return !is_above_share(key.count, share, ranking.total);
  });
  ranking.bound_of_others = std::max(ranking.floor, end == ranking.keys.end() ? 0 : end->count);
  ranking.keys.erase(end, ranking.keys.end());
  return ranking;
}

std::uint64_t TopStream::num_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += std::visit([](const auto& it) { return it.num_bytes(); }, slot);
  return sum;
}

}  // namespace tally::cli

#include "tally/streams/top.hpp"

#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "streams/counted_keys_state.hpp"
#include "streams/filter_of.hpp"
#include "streams/require_records.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/serialization/sketch_files.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"

namespace tally {
namespace {

constexpr std::string_view top_structure = "TopStream";

const TopStream::Options& checked(const TopStream::Options& options) {
  detail::require_in_range(top_structure, "num_slots", options.num_slots, 1, ~std::uint32_t{0});
  if (options.window) detail::require_in_range(top_structure, "window", *options.window, 1, max_time);
  return options;
}

}  // namespace

TopStream::TopStream(const Options& options)
    : options_(checked(options)), ring_(options.window, options.num_slots, [&] {
        if (options.space_saving)
          return Slot(std::in_place_type<SpaceSaving>, options.capacity, options.hasher);
        return Slot(std::in_place_type<TopKeys<>>, options.capacity, options.sketch, options.hasher);
      }) {}

TopStream::TopStream(const Options& options, StateReader& state, const std::optional<HashKey>& key)
    : options_(checked(options)), ring_(options.window, options.num_slots, [&] {
        return Slot(std::in_place_type<SpaceSaving>, 1, options.hasher);
      }) {
  restore(state, key);
}

void TopStream::add(const StreamRecords& records) {
  detail::require_records(top_structure, records, true, options_.window.has_value());
  ring_.add(
      records,
      [&](const StreamRecords& step) {
        num_records_ += step.size();
        std::visit([&](auto& slot) { slot.add_batch(step.keys, step.digests, step.weights); },
                   ring_.current());
      },
      [](Slot& slot) { std::visit([](auto& own) { own.clear(); }, slot); });
}

void TopStream::save(StateWriter& state) const {
  state.number(num_records_);
  ring_.save_position(state);
  for (const Slot& slot : ring_.slots()) {
    std::visit(
        [&](const auto& own) {
          state.number(own.total_count());
          state.number(own.floor());
          detail::save(state, own.candidates());
          if constexpr (std::is_same_v<std::decay_t<decltype(own)>, TopKeys<>>) state.filter(own.sketch());
        },
        slot);
  }
}

void TopStream::restore(StateReader& state, const std::optional<HashKey>& key) {
  num_records_ = state.number();
  ring_.restore_position(state);
  for (Slot& slot : ring_.slots()) {
    const std::uint64_t total = state.number();
    const std::uint64_t floor = state.number();
    CountedKeys keys = detail::restore_counted_keys(state, options_.capacity);
    if (options_.space_saving) {
      slot.emplace<SpaceSaving>(std::move(keys), options_.hasher, total, floor);
      continue;
    }
    auto sketch = detail::filter_of<CountMinSketch<>>(state, options_.hasher, key);
    if (sketch.shape() != options_.sketch) state.fail("a sketch has another shape");
    slot.emplace<TopKeys<>>(std::move(sketch), std::move(keys), total, floor);
  }
}

Ranking TopStream::candidates() const {
  const auto candidates = [](const Slot& slot) {
    return std::visit([](const auto& own) { return candidates_of(own); }, slot);
  };
  if (!ring_.has_window()) return candidates(ring_.slots().front());
  Ranking ranking;
  const auto low_half = [](Hash128 digest) noexcept { return static_cast<std::size_t>(digest.low); };
  std::unordered_set<Hash128, decltype(low_half)> seen(16, low_half);
  for (const Slot& slot : ring_.slots()) {
    const Ranking own = candidates(slot);
    ranking.total += own.total;
    ranking.floor += own.floor;
    for (const KeyCount& key : own.keys) {
      if (seen.insert(key.digest).second) ranking.keys.push_back(key);
    }
  }
  for (KeyCount& key : ranking.keys) {
    key.count = key.error = 0;
    for (const Slot& slot : ring_.slots()) {
      const KeyCount part =
          std::visit([&](const auto& own) { return own.estimate(key.key, key.digest); }, slot);
      key.count += part.count;
      key.error += part.error;
    }
  }
  return ranking;
}

std::vector<std::byte> TopStream::file() const {
  if (ring_.has_window())
    throw std::logic_error(
        "TopStream: a stream with a window cannot be saved as a sketch file; save its state");
  return std::visit([](const auto& own) { return serialize(own); }, ring_.slots().front());
}

std::uint64_t TopStream::memory_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : ring_.slots())
    sum += std::visit([](const auto& own) { return own.num_bytes(); }, slot);
  return sum;
}

}  // namespace tally

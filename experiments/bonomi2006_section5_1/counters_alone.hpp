#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "random.hpp"

namespace tally::experiments {

/// The process of Section 5.1 with nothing but the counters: a key has k random places, whose counters it increments; n keys
/// are inserted, and each step replaces a random one. As fast as memory allows, so that counters can be seen that are too
/// rare for trials of the filters: the shared fingerprints of a d-left filter with k = 1, counters of a standard one with
/// k = 9.
///
/// @return the largest counter at any time of a trial
template <std::uint32_t k>
std::uint32_t largest_counter_alone(std::uint64_t num_places, std::uint64_t num_keys, std::uint64_t num_steps,
                                    std::uint64_t seed) {
  using Places = std::array<std::uint32_t, k>;
  static thread_local std::vector<std::uint8_t> counters;  // all 0 between trials
  counters.resize(num_places);
  test::Random random(seed);
  const auto draw = [&] {
    Places places;
    for (std::uint32_t& place : places) {
      place = static_cast<std::uint32_t>(random.below(num_places));
      __builtin_prefetch(&counters[place]);
    }
    return places;
  };
  std::uint32_t largest = 0;
  const auto insert = [&](const Places& places) {
    for (const std::uint32_t place : places) {
      const std::uint32_t value = ++counters[place];
      if (value > largest) largest = value;
    }
  };
  std::vector<Places> keys;
  while (keys.size() < num_keys) {
    keys.push_back(draw());
    insert(keys.back());
  }
  // What a step needs is drawn some steps before, and is in the cache when its turn comes.
  struct Step {
    std::uint64_t key;
    Places places;
  };
  std::array<Step, 16> ahead;
  const auto draw_step = [&]() -> Step {
    const std::uint64_t key = random.below(num_keys);
    for (const std::uint32_t place : keys[key]) __builtin_prefetch(&counters[place]);
    return {key, draw()};
  };
  for (Step& step : ahead) step = draw_step();
  for (std::uint64_t i = 0; i < num_steps; ++i) {
    Step& step = ahead[i % ahead.size()];
    for (const std::uint32_t place : keys[step.key]) --counters[place];
    keys[step.key] = step.places;
    insert(step.places);
    step = draw_step();
  }
  for (const Places& places : keys) {
    for (const std::uint32_t place : places) --counters[place];
  }
  return largest;
}

}  // namespace tally::experiments

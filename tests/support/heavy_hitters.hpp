#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "random.hpp"
#include "tally/sketches/space_saving.hpp"
#include "tally/sketches/top_keys.hpp"
#include "weighted_draw.hpp"

// Streams of every kind, and the law of SpaceSaving and TopKeys beside an exact multiset.

namespace tally::test {

struct Stream {
  std::vector<std::string> keys;
  std::vector<std::uint64_t> weights;

  void push(std::uint64_t key, std::uint64_t weight = 1) {
    keys.push_back('k' + std::to_string(key));
    weights.push_back(weight);
  }
};

using Exact = std::map<std::string, std::uint64_t>;

inline Exact count_exactly(const Stream& stream, std::size_t length) {
  Exact exact;
  for (std::size_t i = 0; i < length; ++i) exact[stream.keys[i]] += stream.weights[i];
  return exact;
}

inline Stream uniform(std::size_t length, std::uint64_t universe, std::uint64_t seed) {
  Random random(seed);
  Stream stream;
  for (std::size_t i = 0; i < length; ++i) stream.push(random.below(universe));
  return stream;
}

inline Stream zipf(std::size_t length, std::uint64_t universe, double exponent, std::uint64_t seed) {
  const WeightedDraw rank = WeightedDraw::by_zipf(universe, exponent);
  Random random(seed);
  Stream stream;
  for (std::size_t i = 0; i < length; ++i) stream.push(rank(random));
  return stream;
}

/// What is frequent comes after everything else.
inline Stream heavy_last(std::uint64_t num_light, std::uint64_t num_heavy, std::uint64_t times) {
  Stream stream;
  for (std::uint64_t key = 0; key < num_light; ++key) stream.push(1000 + key);
  for (std::uint64_t round = 0; round < times; ++round) {
    for (std::uint64_t key = 0; key < num_heavy; ++key) stream.push(key);
  }
  return stream;
}

/// A key for a while, then the next; and again from the first.
inline Stream rotating(std::uint64_t universe, std::uint64_t times, int rounds) {
  Stream stream;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t key = 0; key < universe; ++key) {
      for (std::uint64_t i = 0; i < times; ++i) stream.push(key);
    }
  }
  return stream;
}

inline Stream weighted(Stream stream, std::uint64_t seed) {
  Random random(seed);
  for (std::uint64_t& weight : stream.weights) {
    weight = random.below(20) == 0 ? random.below(100'000) : random.below(30);
  }
  return stream;
}

inline std::vector<Stream> all_streams() {
  std::vector<Stream> streams{uniform(6000, 1000, 1),   zipf(6000, 3000, 0.8, 2), zipf(6000, 3000, 1.0, 3),
                              zipf(6000, 3000, 1.5, 4), heavy_last(4000, 20, 60), heavy_last(5000, 1, 300),
                              rotating(500, 3, 5),      rotating(40, 50, 2),      rotating(3000, 1, 2)};
  const std::size_t num_plain = streams.size();
  for (std::size_t i = 0; i < num_plain; ++i) streams.push_back(weighted(streams[i], i));
  return streams;
}

/// How the two are made.
struct MakeSpaceSaving {
  static SpaceSaving make(std::uint64_t capacity, std::uint64_t seed = 7) { return {capacity, seed}; }
};

template <std::uint64_t width, std::uint32_t bits, CounterUpdate update>
struct MakeTopKeys {
  static TopKeys<> make(std::uint64_t capacity, std::uint64_t seed = 7) {
    return {capacity, {width, 3, 1, bits, update}, seed};
  }
};

// Sketches that say nothing, that saturate, that are crowded, and that hardly err.
using Makers = testing::Types<
    MakeSpaceSaving, MakeTopKeys<1, 64, CounterUpdate::plain>, MakeTopKeys<50, 8, CounterUpdate::plain>,
    MakeTopKeys<200, 16, CounterUpdate::conservative>, MakeTopKeys<200, 64, CounterUpdate::plain>,
    MakeTopKeys<5000, 64, CounterUpdate::conservative>>;

/// What each answer promises, for every key of the stream.
template <class Sketch>
void expect_law(const Sketch& sketch, const Exact& exact) {
  std::uint64_t total = 0;
  for (const auto& [key, truth] : exact) total += truth;
  ASSERT_EQ(sketch.total_count(), total);
  ASSERT_LE(sketch.floor(), total / sketch.capacity());
  const CountedKeys& kept = sketch.candidates();
  ASSERT_LE(kept.size(), sketch.capacity());
  for (std::uint32_t i = 0; i < kept.size(); ++i) {
    const KeyCount key = kept.key_count(i);
    ASSERT_EQ(key.digest, sketch.hasher()(key.key));
    const auto truth = exact.find(std::string(key.key));
    ASSERT_NE(truth, exact.end());
    ASSERT_LE(key.error, key.count);
    ASSERT_LE(key.error, sketch.floor());
    ASSERT_LE(key.least(), truth->second) << key.key;
    ASSERT_GE(key.count, truth->second) << key.key;
  }
  for (const auto& [key, truth] : exact) {
    const KeyCount estimate = sketch.estimate(key);
    ASSERT_LE(estimate.least(), truth);
    ASSERT_GE(estimate.count, truth);
    if (kept.find(sketch.hasher()(key)) != CountedKeys::none) continue;
    ASSERT_LE(truth, sketch.floor()) << key;
    ASSERT_LE(truth, total / sketch.capacity()) << key;  // so what is above that is kept
  }
}

/// Of a sketch that keeps every key of the stream.
template <class Sketch>
void expect_exact_counts(const Sketch& sketch, const Stream& stream) {
  Exact exact = count_exactly(stream, stream.keys.size());
  std::erase_if(exact, [](const auto& key) { return key.second == 0; });
  EXPECT_EQ(sketch.floor(), 0u);
  ASSERT_EQ(sketch.top(exact.size() + 1).size(), exact.size());
  for (const KeyCount& key : sketch.top(exact.size() + 1)) {
    EXPECT_EQ(key.count, exact.at(std::string(key.key)));
    EXPECT_EQ(key.error, 0u);
  }
}

}  // namespace tally::test

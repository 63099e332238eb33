#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "random.hpp"
#include "row_schemes.hpp"
#include "sample_filters.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::test {

/// The key of a number: of 0 to 36 bytes, not all of them printable.
inline std::string sample_text(std::uint64_t i) {
  return std::string(i % 37, static_cast<char>(i % 7 * 41)) + std::to_string(i);
}

/// Adds keys of which some come often; the same for the same seed.
template <class Sketch>
void add_sample(Sketch& sketch, std::uint64_t num_keys, std::uint64_t seed) {
  Random random(seed);
  for (std::uint64_t i = 0; i < num_keys; ++i) {
    const std::uint64_t most = random.between(1, 60);
    const std::uint64_t weight = random.below(9);  // drawn first: compilers differ in the order of arguments
    sketch.add(std::string_view(sample_text(random.below(most))), weight);
  }
}

template <class Rows>
CountMinShape sample_sketch_shape(std::uint32_t counter_bits, CounterUpdate update) {
  CountMinShape shape{31, 3, 2, counter_bits, update};
  if (Rows::law == RowLaw::independent) shape.num_copies = 1;
  return usable<Rows>(shape);
}

/// A SpaceSaving with this many candidates, full or not, merged or not.
inline SpaceSaving sample_space_saving(std::uint64_t capacity, const KeyHasher& hasher = 42,
                                       std::uint64_t num_keys = 200) {
  SpaceSaving sketch(capacity, hasher);
  add_sample(sketch, num_keys, 1);
  return sketch;
}

template <class Rows = DefaultRows>
TopKeys<Rows> sample_top_keys(std::uint64_t capacity, const KeyHasher& hasher = 42,
                              std::uint32_t counter_bits = 32,
                              CounterUpdate update = CounterUpdate::conservative,
                              std::uint64_t num_keys = 200) {
  TopKeys<Rows> sketch(capacity, sample_sketch_shape<Rows>(counter_bits, update), hasher);
  add_sample(sketch, num_keys, 2);
  return sketch;
}

template <class Rows = DefaultRows>
CountMinWindow<Rows> sample_window(const KeyHasher& hasher = 42, std::uint32_t counter_bits = 16,
                                   CounterUpdate update = CounterUpdate::plain) {
  CountMinWindow<Rows> sketch(sample_sketch_shape<Rows>(counter_bits, update), hasher);
  add_sample(sketch, 50, 3);
  sketch.advance();
  add_sample(sketch, 80, 4);
  return sketch;
}

/// One of every kind, row scheme, width and update, full and not full, empty, and merged.
inline std::vector<AnySketch> sample_sketches(const KeyHasher& hasher = 42) {
  std::vector<AnySketch> sketches;
  for (const std::uint64_t capacity : {1, 2, 20, 500}) {
    for (const std::uint64_t num_keys : {0, 1, 200})
      sketches.emplace_back(sample_space_saving(capacity, hasher, num_keys));
  }
  SpaceSaving merged = sample_space_saving(10, hasher);
  merged.merge(sample_space_saving(10, hasher, 70));
  sketches.emplace_back(std::move(merged));
  RowSchemes::for_each([&]<class Rows>(std::type_identity<Rows>) {
    for (const std::uint32_t bits : {8u, 16u, 32u, 64u}) {
      for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
        sketches.emplace_back(sample_top_keys<Rows>(20, hasher, bits, update));
        sketches.emplace_back(sample_window<Rows>(hasher, bits, update));
      }
    }
    sketches.emplace_back(sample_top_keys<Rows>(1, hasher));
    sketches.emplace_back(sample_top_keys<Rows>(500, hasher));
    sketches.emplace_back(sample_top_keys<Rows>(5, hasher, 64, CounterUpdate::plain, 0));
    TopKeys<Rows> merged_top = sample_top_keys<Rows>(10, hasher);
    merged_top.merge(sample_top_keys<Rows>(10, hasher, 32, CounterUpdate::conservative, 70));
    sketches.emplace_back(std::move(merged_top));
  });
  return sketches;
}

}  // namespace tally::test

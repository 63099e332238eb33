#include <algorithm>
#include <cmath>
#include <vector>

#include "arguments.hpp"
#include "functions.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally::page {
namespace {

constexpr std::uint64_t num_asked = 20'000;
constexpr std::size_t num_points = 13;

/// The digests of keys first, first + 1, ...
std::vector<Hash128> digests_from(const KeyHasher& hasher, std::uint64_t first, std::uint64_t count) {
  std::vector<Hash128> digests(count);
  for (std::uint64_t i = 0; i < count; ++i) digests[i] = hasher(first + i);
  return digests;
}

}  // namespace

Json count_min_excess(const Json& fields) {
  Arguments arguments(fields);
  CountMinShape shape{.counter_bits = 32};
  shape.width = arguments.required<std::uint64_t>("width");
  shape.depth = arguments.required<std::uint32_t>("depth");
  const auto num_keys = arguments.required<std::uint64_t>("num_keys");
  std::uint64_t seed = 1;
  arguments.read("seed", seed);
  arguments.refuse_others();
  if (shape.width < 2 || shape.width > 1'000'000) arguments.refuse("width", shape.width, "2 to 1000000");
  if (shape.depth < 1 || shape.depth > 64) arguments.refuse("depth", shape.depth, "1 to 64");
  if (num_keys < 1 || num_keys > 5'000'000) arguments.refuse("num_keys", num_keys, "1 to 5000000");

  CountMinSketch<> sketch(shape, KeyHasher(seed));
  sketch.add_batch(digests_from(sketch.hasher(), 0, num_keys));
  std::vector<CountEstimate> estimates(num_asked);
  sketch.estimate_batch(digests_from(sketch.hasher(), num_keys, num_asked), estimates);

  const auto w = static_cast<double>(shape.width);
  Json excesses = Json::array();
  Json bounds = Json::array();
  Json measured = Json::array();
  for (std::size_t i = 0; i < num_points; ++i) {
    // From half of 1/w to 32/w; a row exceeds a share of x with probability at most 1 / (w x), by Markov's inequality.
    const double excess = 0.5 * std::exp2(static_cast<double>(i) / 2) / w;
    const auto is_above = [&](const CountEstimate& estimate) {
      return static_cast<double>(estimate.value) > excess * static_cast<double>(num_keys);
    };
    const auto num_above = std::count_if(estimates.begin(), estimates.end(), is_above);
    excesses.push_back(excess);
    bounds.push_back(std::pow(std::min(1.0, 1 / (w * excess)), shape.depth));
    measured.push_back(static_cast<double>(num_above) / static_cast<double>(num_asked));
  }
  return {{"excess", excesses}, {"bound", bounds}, {"measured", measured}};
}

}  // namespace tally::page

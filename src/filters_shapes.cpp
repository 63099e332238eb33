#include "tally/filters/shapes.hpp"

#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

std::string_view name_of(CounterUpdate update) noexcept {
  return update == CounterUpdate::plain ? "plain" : "conservative";
}

std::uint32_t counter_bits_for(const ThresholdShape& shape) noexcept {
  return CounterArray::width_for(shape.threshold);
}

std::uint64_t num_bytes(const BloomShape& shape) noexcept { return 8 * BitArray::num_words(shape.num_bits); }

std::uint64_t num_bytes(const CountingBloomShape& shape) noexcept {
  return 8 * CounterArray::num_words(shape.num_counters, shape.counter_bits);
}

std::uint64_t num_bytes(const ThresholdShape& shape) noexcept {
  return 8 * CounterArray::num_words(shape.num_counters, counter_bits_for(shape));
}

PositionSpace position_space(const BloomShape& shape) noexcept {
  return {shape.num_bits, shape.num_hashes, BitArray::positions_per_line};
}

PositionSpace position_space(const CountingBloomShape& shape) noexcept {
  return {shape.num_counters, shape.num_hashes, CounterArray::positions_per_line(shape.counter_bits)};
}

PositionSpace position_space(const ThresholdShape& shape) noexcept {
  return {shape.num_counters, shape.num_hashes, CounterArray::positions_per_line(counter_bits_for(shape))};
}

void check_shape(const CountingBloomShape& shape) {
  constexpr std::string_view structure = "CountingBloomFilter";
  if (!CounterArray::is_width(shape.counter_bits)) {
    detail::throw_parameter_error(structure, "counter_bits", std::to_string(shape.counter_bits),
                                  "1 to 8, 16, 32 or 64");
  }
  const std::uint64_t max_counter = ~std::uint64_t{0} >> (64 - shape.counter_bits);
  if (shape.max_threshold < 1 || shape.max_threshold > max_counter) {
    detail::throw_parameter_error(structure, "max_threshold", std::to_string(shape.max_threshold),
                                  "1 to " + std::to_string(max_counter) + " with counter_bits " +
                                      std::to_string(shape.counter_bits) + "; take wider counters");
  }
}

void check_shape(const ThresholdShape& shape) {
  constexpr std::string_view structure = "ThresholdFilter";
  detail::require_in_range(structure, "threshold", shape.threshold, 1, max_threshold_limit);
  if (shape.update != CounterUpdate::plain && shape.update != CounterUpdate::conservative) {
    detail::throw_parameter_error(structure, "update", std::to_string(static_cast<int>(shape.update)),
                                  "0 (plain) or 1 (conservative)");
  }
}

}  // namespace tally

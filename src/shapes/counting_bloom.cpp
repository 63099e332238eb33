#include "tally/shapes/counting_bloom.hpp"

#include <string>

#include "shapes/counting_bloom.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

std::uint64_t num_bytes(const CountingBloomShape& shape) noexcept {
  return 8 * CounterArray::num_words(shape.num_counters, shape.counter_bits);
}

PositionSpace position_space(const CountingBloomShape& shape) noexcept {
  return {shape.num_counters, shape.num_hashes, CounterArray::positions_per_line(shape.counter_bits)};
}

void check_shape(const CountingBloomShape& shape) { detail::check_counters("CountingBloomFilter", shape); }

void detail::check_counters(std::string_view structure, const CountingBloomShape& shape) {
  if (!CounterArray::is_width(shape.counter_bits)) {
    throw_parameter_error(structure, "counter_bits", shape.counter_bits, "1 to 8, 16, 32 or 64");
  }
  const std::uint64_t max_counter = ~std::uint64_t{0} >> (64 - shape.counter_bits);
  if (shape.max_threshold < 1 || shape.max_threshold > max_counter) {
    throw_parameter_error(structure, "max_threshold", shape.max_threshold,
                          "1 to " + std::to_string(max_counter) + " with counter_bits " +
                              std::to_string(shape.counter_bits) + "; use wider counters");
  }
}

}  // namespace tally

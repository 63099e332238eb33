#include "tally/shapes/threshold.hpp"

#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

std::uint32_t counter_bits_for(const ThresholdShape& shape) noexcept {
  return CounterArray::width_for(shape.threshold);
}

std::uint64_t num_bytes(const ThresholdShape& shape) noexcept {
  return 8 * CounterArray::num_words(shape.num_counters, counter_bits_for(shape));
}

PositionSpace position_space(const ThresholdShape& shape) noexcept {
  return {shape.num_counters, shape.num_hashes, CounterArray::positions_per_line(counter_bits_for(shape))};
}

void check_shape(const ThresholdShape& shape) {
  constexpr std::string_view structure = "ThresholdFilter";
  detail::require_in_range(structure, "threshold", shape.threshold, 1, max_threshold_limit);
  if (shape.update != CounterUpdate::plain && shape.update != CounterUpdate::conservative) {
    detail::throw_parameter_error(structure, "update", static_cast<int>(shape.update),
                                  "0 (plain) or 1 (conservative)");
  }
}

}  // namespace tally

#include <algorithm>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "planner/search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/planner/plan_count_min.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/count_min.hpp"

namespace tally {
namespace {

using namespace planner_detail;

constexpr std::uint64_t least_width = 7;  // the first prime for which Theorem 9.1 gives an epsilon below 1

/// A shape without a size, with the requested update and counter width.
CountMinShape start(std::string_view structure, const Requirements& requirements) {
  const auto& [epsilon, failure, memory_bytes, total_count] =
      std::tie(requirements.epsilon, requirements.failure_probability, requirements.memory_bytes,
               requirements.total_count);
  const int num_given = epsilon.has_value() + failure.has_value() + memory_bytes.has_value();
  if (num_given != 2) {
    throw std::invalid_argument(
        std::string(structure) + ": " + std::to_string(num_given) +
        " of epsilon, failure_probability and memory_bytes are given; give exactly two");
  }
  if (epsilon) require_rate(structure, "epsilon", *epsilon);
  if (failure) require_rate(structure, "failure_probability", *failure);
  if (memory_bytes) require_count(structure, "memory_bytes", *memory_bytes, 1, ~std::uint64_t{0});
  if (total_count) require_count(structure, "total_count", *total_count, 1, ~std::uint64_t{0});
  CountMinShape shape;
  shape.update = requirements.update.value_or(CounterUpdate::plain);
  if (requirements.counter_bits) {
    shape.counter_bits = *requirements.counter_bits;
  } else if (total_count) {
    const std::uint64_t maximum = std::max(*total_count, *total_count + 1);  // is never reached
    shape.counter_bits = std::max(8u, CounterArray::width_for(maximum));
  }
  if (shape.counter_bits < 8 || !CounterArray::is_width(shape.counter_bits)) {
    detail::throw_parameter_error(structure, "counter_bits", shape.counter_bits, "8, 16, 32 or 64");
  }
  return shape;
}

[[noreturn]] void refuse_memory(std::string_view structure, const Requirements& requirements) {
  detail::throw_parameter_error(structure, "memory_bytes", *requirements.memory_bytes,
                                "larger: no sketch that meets the requirements fits");
}

/// The depth and the number of copies that follow from the width and delta by the theorem.
CountMinShape two_hash_shape(CountMinShape shape, double delta) {
  const double epsilon = 2 * std::numbers::e / static_cast<double>(shape.width);
  shape.depth = theory::count_min_two_hash_depth(epsilon);
  shape.num_copies = theory::count_min_two_hash_copies(epsilon, delta);
  return shape;
}

/// The widest two-hash sketch with at most `num_counters` counters. Tries 1, 2, ... copies, each with the widest rows
/// that fit, until the width needs no more copies than that. Fewer copies leave wider rows, so the first such width
/// is best.
CountMinShape widest_two_hash(CountMinShape shape, double delta, std::uint64_t num_counters) {
  for (std::uint64_t copies = 1; copies <= max_num_hashes; ++copies) {
    const auto fits = [&](std::uint64_t width) {
      CountMinShape tried = shape;
      tried.width = width;
      return two_hash_shape(tried, delta).depth * copies <= num_counters / width;
    };
    if (!fits(least_width)) return {};
    std::uint64_t low = least_width;
    std::uint64_t high = num_counters + 1;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    shape.width = TwoHashRows::round_width(low, Rounding::down);
    const CountMinShape found = two_hash_shape(shape, delta);
    if (found.num_copies <= copies) return found;
  }
  return {};
}

}  // namespace

CountMinShape plan_count_min(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_count_min";
  CountMinShape shape = start(structure, requirements);
  const std::uint64_t fitting = positions_in(requirements.memory_bytes.value_or(0), shape.counter_bits);
  const auto& [epsilon, failure] = std::tie(requirements.epsilon, requirements.failure_probability);
  if (epsilon) shape.width = theory::count_min_width(*epsilon);
  if (failure) shape.depth = theory::count_min_depth(*failure);
  if (!epsilon) {
    shape.width = fitting / shape.depth;
    if (static_cast<double>(shape.width) <= std::numbers::e) refuse_memory(structure, requirements);
  } else if (!failure) {
    shape.depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(max_num_hashes, fitting / shape.width));
    if (shape.depth == 0) refuse_memory(structure, requirements);
  }
  check_shape<DefaultRows>(shape);
  return shape;
}

CountMinShape plan_count_min_two_hash(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_count_min_two_hash";
  CountMinShape shape = start(structure, requirements);
  const std::uint64_t fitting = positions_in(requirements.memory_bytes.value_or(0), shape.counter_bits);
  const auto& [epsilon, failure] = std::tie(requirements.epsilon, requirements.failure_probability);
  if (!epsilon) {
    shape = widest_two_hash(shape, *failure, fitting);
    if (shape.width == 0) refuse_memory(structure, requirements);
  } else {
    shape.width = TwoHashRows::round_width(theory::count_min_two_hash_width(*epsilon), Rounding::up);
    shape.depth = theory::count_min_two_hash_depth(*epsilon);
    if (failure) {
      shape.num_copies = theory::count_min_two_hash_copies(*epsilon, *failure);
    } else {
      shape.num_copies = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(max_num_hashes, fitting / shape.width) / shape.depth);
      if (shape.num_copies == 0) refuse_memory(structure, requirements);
    }
  }
  check_shape<TwoHashRows>(shape);
  return shape;
}

}  // namespace tally

#include <algorithm>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>

#include "planner/search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/planner/plan_count_min.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/count_min.hpp"

namespace tally {
namespace {

constexpr std::uint64_t least_width =
    7;  // the first prime for which Theorem 9.1 speaks of an epsilon below 1

/// An empty shape with the update and the width of counters that the request asks for.
CountMinShape start(std::string_view structure, const CountMinRequest& request) {
  const int num_given =
      (request.epsilon != 0) + (request.failure_probability != 0) + (request.memory_bytes != 0);
  if (num_given != 2) {
    throw std::invalid_argument(
        std::string(structure) + ": " + std::to_string(num_given) +
        " of epsilon, failure_probability and memory_bytes are given; give exactly two");
  }
  if (request.epsilon != 0) detail::require_probability(structure, "epsilon", request.epsilon);
  if (request.failure_probability != 0) {
    detail::require_probability(structure, "failure_probability", request.failure_probability);
  }
  CountMinShape shape;
  shape.update = request.update;
  if (request.counter_bits != 0) {
    shape.counter_bits = request.counter_bits;
  } else if (request.total_count != 0) {
    const std::uint64_t maximum = std::max(request.total_count, request.total_count + 1);  // is never reached
    shape.counter_bits = std::max(8u, CounterArray::width_for(maximum));
  }
  if (shape.counter_bits < 8 || !CounterArray::is_width(shape.counter_bits)) {
    detail::throw_parameter_error(structure, "counter_bits", std::to_string(shape.counter_bits),
                                  "8, 16, 32 or 64");
  }
  return shape;
}

[[noreturn]] void refuse_memory(std::string_view structure, const CountMinRequest& request) {
  detail::throw_parameter_error(structure, "memory_bytes", std::to_string(request.memory_bytes),
                                "larger for this; no such sketch fits");
}

/// Copies that a width needs, with the theorem's depth: all that follows from a width and a delta.
CountMinShape two_hash_shape(CountMinShape shape, double delta) {
  const double epsilon = 2 * std::numbers::e / static_cast<double>(shape.width);
  shape.depth = theory::count_min_two_hash_depth(epsilon);
  shape.num_copies = theory::count_min_two_hash_copies(epsilon, delta);
  return shape;
}

/// The widest two-hash sketch of so many counters: for each number of copies, from 1 on, the widest that
/// fits, until one needs no more copies than that. Fewer copies leave wider rows, so that the first is best.
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

CountMinShape plan_count_min(const CountMinRequest& request) {
  constexpr std::string_view structure = "plan_count_min";
  CountMinShape shape = start(structure, request);
  const std::uint64_t fitting = planner_detail::positions_in(request.memory_bytes, shape.counter_bits);
  if (request.epsilon != 0) shape.width = theory::count_min_width(request.epsilon);
  if (request.failure_probability != 0) shape.depth = theory::count_min_depth(request.failure_probability);
  if (request.epsilon == 0) {
    shape.width = fitting / shape.depth;
    if (static_cast<double>(shape.width) <= std::numbers::e) refuse_memory(structure, request);
  } else if (request.failure_probability == 0) {
    shape.depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(max_num_hashes, fitting / shape.width));
    if (shape.depth == 0) refuse_memory(structure, request);
  }
  check_shape<DefaultRows>(shape);
  return shape;
}

CountMinShape plan_count_min_two_hash(const CountMinRequest& request) {
  constexpr std::string_view structure = "plan_count_min_two_hash";
  CountMinShape shape = start(structure, request);
  const std::uint64_t fitting = planner_detail::positions_in(request.memory_bytes, shape.counter_bits);
  if (request.epsilon == 0) {
    shape = widest_two_hash(shape, request.failure_probability, fitting);
    if (shape.width == 0) refuse_memory(structure, request);
  } else {
    shape.width = TwoHashRows::round_width(theory::count_min_two_hash_width(request.epsilon), Rounding::up);
    shape.depth = theory::count_min_two_hash_depth(request.epsilon);
    if (request.failure_probability != 0) {
      shape.num_copies = theory::count_min_two_hash_copies(request.epsilon, request.failure_probability);
    } else {
      shape.num_copies = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(max_num_hashes, fitting / shape.width) / shape.depth);
      if (shape.num_copies == 0) refuse_memory(structure, request);
    }
  }
  check_shape<TwoHashRows>(shape);
  return shape;
}

}  // namespace tally

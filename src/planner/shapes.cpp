#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "planner/search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/blocked_scheme.hpp"
#include "tally/planner.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/counter_overflow.hpp"

namespace tally {
namespace {

using namespace planner_detail;

constexpr std::uint32_t least_counter_bits = 4;  // ample for sets, says Summary Cache

BloomShape plan_bits(std::string_view structure, std::string_view scheme, const BloomRequest& request) {
  const Wanted wanted =
      check_wanted(structure, request.num_keys, request.false_positive_rate, request.memory_bytes);
  const Solution found = solve(structure, scheme_law(scheme).law, wanted, 1);
  return {found.num_positions, found.num_hashes};
}

std::uint64_t planned(std::string_view structure, std::string_view scheme, std::uint64_t num_positions,
                      std::uint32_t num_hashes, double false_positive_rate) {
  detail::require_in_range(structure, "num_hashes", num_hashes, 1, max_num_hashes);
  detail::require_in_range(structure, "num_positions", num_positions, 1, max_num_positions);
  detail::require_probability(structure, "false_positive_rate", false_positive_rate);
  const Law law = scheme_law(scheme).law;
  if (law.round(num_positions, num_hashes, Rounding::down) != num_positions) {
    detail::throw_parameter_error(structure, "num_positions", std::to_string(num_positions),
                                  "a multiple of 512 for a blocked filter");
  }
  return most_keys_at(law, num_positions, num_hashes, std::log(false_positive_rate));
}

}  // namespace

CountingSolution planner_detail::solve_counting(std::string_view structure, const Law& law,
                                                const Wanted& wanted, std::uint64_t max_threshold,
                                                std::uint32_t counter_bits,
                                                double max_saturation_probability) {
  const auto solve_with = [&](std::uint32_t width) {
    CountingBloomShape shape{1, 1, width, max_threshold};
    check_shape(shape);
    const Solution found = solve(structure, law, wanted, width);
    shape.num_counters = found.num_positions;
    shape.num_hashes = found.num_hashes;
    return CountingSolution{shape, found.num_keys};
  };
  if (counter_bits != 0) return solve_with(counter_bits);

  detail::require_probability(structure, "max_saturation_probability", max_saturation_probability);
  detail::require_in_range(structure, "max_threshold", max_threshold, 1, ~std::uint64_t{0});
  for (std::uint32_t width = std::max(least_counter_bits, CounterArray::width_for(max_threshold));; ++width) {
    if (!CounterArray::is_width(width)) continue;
    CountingSolution solution = solve_with(width);
    if (width >= 32) return solution;  // 2^32 hits on one counter: as good as never
    const CountingBloomShape& shape = solution.shape;
    const std::uint64_t full = ~std::uint64_t{0} >> (64 - width);
    const double ln_bound = theory::ln_counter_overflow_union_bound(shape.num_counters, shape.num_hashes,
                                                                    solution.num_keys, full);
    if (ln_bound <= std::log(max_saturation_probability)) return solution;
  }
}

BloomShape plan_bloom(const BloomRequest& request) {
  return plan_bits("plan_bloom", DefaultScheme::name, request);
}

BloomShape plan_blocked_bloom(const BloomRequest& request) {
  return plan_bits("plan_blocked_bloom", BlockedScheme::name, request);
}

CountingBloomShape plan_counting_bloom(const CountingBloomRequest& request) {
  constexpr std::string_view structure = "plan_counting_bloom";
  const Wanted wanted =
      check_wanted(structure, request.num_keys, request.false_positive_rate, request.memory_bytes);
  return solve_counting(structure, scheme_law(DefaultScheme::name).law, wanted, request.max_threshold,
                        request.counter_bits, request.max_saturation_probability)
      .shape;
}

ThresholdShape plan_threshold(const ThresholdRequest& request) {
  constexpr std::string_view structure = "plan_threshold";
  const std::uint64_t theta = request.threshold;
  ThresholdShape shape{1, 1, theta, request.update};
  check_shape(shape);
  const std::uint64_t true_count = request.true_count == any_true_count ? theta - 1 : request.true_count;
  detail::require_in_range(structure, "true_count", true_count, 0, theta - 1);

  std::uint64_t num_keys = request.num_keys;
  if (request.histogram) {
    if (num_keys != 0 || request.num_insertions != 0) {
      throw std::invalid_argument(std::string(structure) + ": histogram is given, and " +
                                  (num_keys != 0 ? "num_keys" : "num_insertions") +
                                  " too; leave that out, the histogram says it");
    }
    num_keys = num_keys_of(structure, *request.histogram);
  }
  Wanted wanted = check_wanted(structure, num_keys, request.false_positive_rate, request.memory_bytes);

  Law law = scheme_law(DefaultScheme::name).law;
  const std::uint64_t gap = theta - true_count;
  if (gap > 1 && request.histogram) {
    law = histogram_law(law, gap, *request.histogram);
  } else if (gap > 1) {
    law = insertions_law(law, gap);
    if (request.num_insertions != 0) {
      detail::require_in_range(structure, "num_insertions", request.num_insertions,
                               std::max<std::uint64_t>(num_keys, 1), max_num_positions);
      if (wanted.num_keys != 0) wanted.num_keys = request.num_insertions;
    }
  }
  const Solution found = solve(structure, law, wanted, counter_bits_for(shape));
  shape.num_counters = found.num_positions;
  shape.num_hashes = found.num_hashes;
  return shape;
}

std::uint64_t planned_num_keys(const BloomShape& shape, double false_positive_rate) {
  return planned("planned_num_keys", DefaultScheme::name, shape.num_bits, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys_blocked(const BloomShape& shape, double false_positive_rate) {
  return planned("planned_num_keys_blocked", BlockedScheme::name, shape.num_bits, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys(const CountingBloomShape& shape, double false_positive_rate) {
  check_shape(shape);
  return planned("planned_num_keys", DefaultScheme::name, shape.num_counters, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys(const ThresholdShape& shape, double false_positive_rate) {
  check_shape(shape);
  return planned("planned_num_keys", DefaultScheme::name, shape.num_counters, shape.num_hashes,
                 false_positive_rate);
}

theory::CountHistogram histogram_of_counts(std::span<const std::uint64_t> counts, std::uint64_t limit) {
  theory::CountHistogram histogram = theory::make_count_histogram({}, limit);
  for (const std::uint64_t count : counts) {
    if (count == 0) continue;
    if (count < limit) {
      histogram.keys_with_count[count] += 1.0;
    } else {
      histogram.keys_beyond += 1.0;
      histogram.insertions_beyond += static_cast<double>(count);
    }
  }
  return histogram;
}

}  // namespace tally

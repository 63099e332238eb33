#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "planner/conservative.hpp"
#include "planner/saturation.hpp"
#include "planner/search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/planner.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {
namespace {

using namespace planner_detail;

constexpr std::uint32_t least_counter_bits = 4;  // enough for sets (Summary Cache, Fan et al. 2000)

template <class Shape>
Shape plan_bits(std::string_view structure, std::string_view scheme, const Requirements& requirements) {
  const Wanted wanted = check_wanted(structure, requirements);
  const Solution found = solve(structure, search_law(scheme).law, wanted, 1);
  return {found.num_positions, found.num_hashes};
}

std::uint64_t planned(std::string_view structure, std::string_view scheme, std::uint64_t num_positions,
                      std::uint32_t num_hashes, double false_positive_rate) {
  detail::require_in_range(structure, "num_hashes", num_hashes, 1, max_num_hashes);
  detail::require_in_range(structure, "num_positions", num_positions, 1, max_num_positions);
  detail::require_probability(structure, "false_positive_rate", false_positive_rate);
  const Law law = search_law(scheme).law;
  if (num_hashes % law.hashes_step != 0) {
    detail::throw_parameter_error(structure, "num_hashes", num_hashes,
                                  "a multiple of " + std::to_string(law.hashes_step));
  }
  if (law.round(num_positions, num_hashes, Rounding::down) != num_positions) {
    detail::throw_parameter_error(structure, "num_positions", num_positions,
                                  "a multiple of 512 for a blocked filter");
  }
  return most_keys_at(law, num_positions, num_hashes, std::log(false_positive_rate));
}

}  // namespace

CountingSolution planner_detail::solve_counting(std::string_view structure, const CountingLaw& law,
                                                const Wanted& wanted, const Requirements& requirements,
                                                const Keys& keys) {
  const std::uint64_t max_threshold = requirements.theta();
  const auto solve_with = [&](std::uint32_t width) {
    CountingBloomShape shape{1, 1, width, max_threshold};
    check_shape(shape);
    const Solution found = solve(structure, law.of_width(width), wanted, width);
    shape.num_counters = found.num_positions;
    shape.num_hashes = found.num_hashes;
    return CountingSolution{shape, found.num_keys};
  };
  if (requirements.counter_bits) return solve_with(*requirements.counter_bits);

  const std::optional<double>& most = requirements.max_saturation_probability;
  if (most) detail::require_probability(structure, "max_saturation_probability", *most);
  detail::require_in_range(structure, "threshold", max_threshold, 1, ~std::uint64_t{0});
  for (std::uint32_t width = std::max(least_counter_bits, CounterArray::width_for(max_threshold));; ++width) {
    if (!CounterArray::is_width(width)) continue;
    CountingSolution solution = solve_with(width);
    if (width >= 32) return solution;  // a counter practically never gets 2^32 insertions
    const std::uint64_t full = ~std::uint64_t{0} >> (64 - width);
    const std::uint64_t num_replacements = replacements_of(requirements, solution.num_keys);
    const auto is_wide_enough = [&](const Keys& of) {
      const double expected =
          law.expected_saturated(of, solution.num_keys, solution.shape, full, num_replacements);
      return expected <= most_saturated_share * static_cast<double>(solution.shape.num_counters) &&
             expected <= most.value_or(expected);
    };
    const bool is_accumulated = num_replacements > 0 && knows_counts_up_to(keys, full);
    if (is_wide_enough({}) && (!is_accumulated || is_wide_enough(keys))) return solution;
  }
}

BloomShape plan_bloom(const Requirements& requirements) {
  return plan_bits<BloomShape>("plan_bloom", DefaultScheme::name, requirements);
}

BlockedBloomShape plan_blocked_bloom(const Requirements& requirements) {
  return plan_bits<BlockedBloomShape>("plan_blocked_bloom", BlockedScheme::name, requirements);
}

BlockedBloomShape plan_register_blocked_bloom(const Requirements& requirements) {
  return plan_bits<BlockedBloomShape>("plan_register_blocked_bloom", RegisterBlockedScheme::name,
                                      requirements);
}

DuplicateShape plan_duplicate(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_duplicate";
  const Solution found = solve(structure, duplicate_law(), check_wanted(structure, requirements), 1);
  return {found.num_positions, found.num_hashes};
}

CountingBloomShape plan_counting_bloom(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_counting_bloom";
  const Wanted wanted = check_wanted(structure, requirements);
  return solve_counting(structure, counting_law(search_law(DefaultScheme::name).law), wanted, requirements,
                        {})
      .shape;
}

BlockedCountingBloomShape plan_blocked_counting_bloom(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_blocked_counting_bloom";
  const Wanted wanted = check_wanted(structure, requirements);
  const CountingLaw law = blocked_counting_law(requirements.theta());
  return blocked_shape(solve_counting(structure, law, wanted, requirements, {}).shape);
}

ThresholdShape plan_threshold(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_threshold";
  if (!requirements.threshold)
    throw std::invalid_argument(
        "plan_threshold: threshold is not given; give the number of insertions from which keys are reported");
  const std::uint64_t theta = requirements.theta();
  ThresholdShape shape{1, 1, theta, requirements.update.value_or(CounterUpdate::plain)};
  check_shape(shape);
  const std::uint64_t true_count = requirements.true_count.value_or(theta - 1);
  detail::require_in_range(structure, "true_count", true_count, 0, theta - 1);

  std::optional<std::uint64_t> num_keys = requirements.num_keys;
  if (requirements.histogram) {
    if (num_keys || requirements.num_insertions) {
      throw std::invalid_argument(std::string(structure) + ": histogram and " +
                                  (num_keys ? "num_keys" : "num_insertions") +
                                  " are given; leave the latter out: the histogram contains it");
    }
    num_keys = num_keys_of(structure, *requirements.histogram);
  }
  Wanted wanted = check_wanted(structure, requirements, num_keys);

  Law law = search_law(DefaultScheme::name).law;
  const std::uint64_t gap = theta - true_count;
  if (gap > 1 && requirements.histogram) {
    law = histogram_law(law, gap, *requirements.histogram);
  } else if (gap > 1) {
    law = insertions_law(law, gap);
    if (const auto num_insertions = requirements.num_insertions) {
      require_count(structure, "num_insertions", *num_insertions, num_keys.value_or(1), max_num_positions);
      if (wanted.num_keys) wanted.num_keys = num_insertions;
    }
  }
  Solution found = solve(structure, law, wanted, counter_bits_for(shape));
  if (gap > 1 && requirements.histogram && shape.update == CounterUpdate::conservative)
    found = improved_by_conservative_update(found, law, *requirements.histogram, theta, true_count, wanted,
                                            counter_bits_for(shape));
  shape.num_counters = found.num_positions;
  shape.num_hashes = found.num_hashes;
  return shape;
}

std::uint64_t planned_num_keys(const BloomShape& shape, double false_positive_rate) {
  return planned("planned_num_keys", DefaultScheme::name, shape.num_bits, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys(const BlockedBloomShape& shape, double false_positive_rate) {
  return planned("planned_num_keys", BlockedScheme::name, shape.num_bits, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys(const DuplicateShape& shape, double false_positive_rate) {
  check_shape(shape);
  detail::require_probability("planned_num_keys", "false_positive_rate", false_positive_rate);
  return most_keys_at(duplicate_law(), shape.num_bits, shape.num_hashes, std::log(false_positive_rate));
}

std::uint64_t planned_num_keys(const CountingBloomShape& shape, double false_positive_rate) {
  check_shape(shape);
  return planned("planned_num_keys", DefaultScheme::name, shape.num_counters, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys(const BlockedCountingBloomShape& shape, double false_positive_rate) {
  constexpr std::string_view structure = "planned_num_keys";
  check_shape(shape);
  check_position_space<BlockedScheme>(structure, "num_counters", position_space(shape));
  detail::require_probability(structure, "false_positive_rate", false_positive_rate);
  const Law law = blocked_counting_law(shape.max_threshold).of_width(shape.counter_bits);
  return most_keys_at(law, shape.num_counters, shape.num_hashes, std::log(false_positive_rate));
}

std::uint64_t planned_num_keys(const ThresholdShape& shape, double false_positive_rate) {
  check_shape(shape);
  return planned("planned_num_keys", DefaultScheme::name, shape.num_counters, shape.num_hashes,
                 false_positive_rate);
}

namespace {

/// The functions of the planner for a kind.
struct KindPlanner {
  FilterKind kind;
  FilterShape (*shape)(const Requirements&, std::uint16_t scheme_id);
  std::uint64_t (*num_keys)(const FilterShape&, double);
};

template <auto plan_own>
FilterShape shape_by(const Requirements& requirements, std::uint16_t scheme_id) {
  return {plan_own(requirements), scheme_id};
}

FilterShape blocked_bloom_shape(const Requirements& requirements, std::uint16_t scheme_id) {
  return {scheme_id == RegisterBlockedScheme::file_id ? plan_register_blocked_bloom(requirements)
                                                      : plan_blocked_bloom(requirements),
          scheme_id};
}

FilterShape sketch_shape(const Requirements& requirements, std::uint16_t scheme_id) {
  RowLaw law = RowLaw::independent;
  RowSchemes::with_id(scheme_id, [&]<class Rows>(std::type_identity<Rows>) { law = Rows::law; });
  return {law == RowLaw::two_hash ? plan_count_min_two_hash(requirements) : plan_count_min(requirements),
          scheme_id};
}

template <class Shape>
std::uint64_t num_keys_by(const FilterShape& shape, double rate) {
  return planned_num_keys(std::get<Shape>(shape.shape), rate);
}

std::uint64_t num_keys_of_blocked_bloom(const FilterShape& shape, double rate) {
  return planned("planned_num_keys", shape.scheme_name(), shape.num_positions(), shape.num_hashes(), rate);
}

std::uint64_t num_keys_of_sketch(const FilterShape& shape, double /*rate*/) {
  throw std::invalid_argument(
      "planned_num_keys: a " + std::string(name_of(shape.kind())) +
      " sketch is planned for a sum of weights, not for a number of keys; give the shape of a filter");
}

constexpr KindPlanner planners[] = {
    {FilterKind::bloom, shape_by<plan_bloom>, num_keys_by<BloomShape>},
    {FilterKind::blocked_bloom, blocked_bloom_shape, num_keys_of_blocked_bloom},
    {FilterKind::counting_bloom, shape_by<plan_counting_bloom>, num_keys_by<CountingBloomShape>},
    {FilterKind::threshold, shape_by<plan_threshold>, num_keys_by<ThresholdShape>},
    {FilterKind::dleft, shape_by<plan_dleft>, num_keys_by<DLeftShape>},
    {FilterKind::count_min, sketch_shape, num_keys_of_sketch},
    {FilterKind::compact_dleft, shape_by<plan_compact_dleft>, num_keys_by<CompactDLeftShape>},
    {FilterKind::blocked_counting_bloom, shape_by<plan_blocked_counting_bloom>,
     num_keys_by<BlockedCountingBloomShape>},
};

static_assert(std::size(planners) == num_kinds);

const KindPlanner& planner_of(FilterKind kind) {
  return *std::ranges::find(planners, kind, &KindPlanner::kind);
}

}  // namespace

FilterShape plan_shape(FilterKind kind, const Requirements& requirements) {
  constexpr std::string_view structure = "plan_shape";
  const KindTraits& traits = traits_of(kind);
  const std::uint16_t scheme_id =
      requirements.scheme ? scheme_id_of(kind, *requirements.scheme) : traits.default_scheme_id;
  const FilterShape shape = planner_of(kind).shape(requirements, scheme_id);
  if (!traits.can_fill_up || !requirements.memory_bytes)
    return round_to_scheme(shape, requirements.memory_bytes ? Rounding::down : Rounding::up);
  // If the number of buckets were rounded down, the filter would not hold the keys.
  if (round_to_scheme(shape, Rounding::down) != shape) {
    throw std::invalid_argument(std::string(structure) + ": memory_bytes: the scheme '" +
                                std::string(shape.scheme_name()) +
                                "' cannot use the number of buckets that fits; give num_keys and "
                                "false_positive_rate");
  }
  return shape;
}

std::uint64_t planned_num_keys(const FilterShape& shape, double false_positive_rate) {
  return planner_of(shape.kind()).num_keys(shape, false_positive_rate);
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

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "planner/conservative.hpp"
#include "planner/count_laws.hpp"
#include "planner/dleft_requirements.hpp"
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

/// The law of the scheme in the requirements, or of the default one, for keys below the threshold.
Law law_for(FilterKind kind, const std::optional<std::string_view>& scheme, std::uint64_t theta) {
  const std::string_view name = scheme.value_or(DefaultScheme::name);
  (void)scheme_id_of(kind, name);  // refuses one that the kind does not support
  const Law law = search_law(name).law;
  return theta > 1 ? law_of_inserted_keys(law) : law;
}

template <class Shape>
Shape plan_bits(std::string_view structure, const Law& law, const Requirements& requirements) {
  const Wanted wanted = check_wanted(structure, requirements);
  const Solution found = solve(structure, law, wanted, 1);
  return {found.num_positions, found.num_hashes};
}

std::uint64_t planned(std::string_view structure, const Law& law, std::uint64_t num_positions,
                      std::uint32_t num_hashes, double false_positive_rate) {
  detail::require_in_range(structure, "num_hashes", num_hashes, 1, max_num_hashes);
  detail::require_in_range(structure, "num_positions", num_positions, 1, max_num_positions);
  detail::require_probability(structure, "false_positive_rate", false_positive_rate);
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
  const auto expected_saturated = [&](const Keys& of, const CountingSolution& solution) {
    return law.expected_saturated(of, solution.num_keys, solution.shape,
                                  ~std::uint64_t{0} >> (64 - solution.shape.counter_bits),
                                  operations_of(requirements, solution.num_keys));
  };
  /// The share of counters that are saturated in the end, if keys are replaced and the rate is given; 0 if it is not small.
  const auto small_share = [&](const CountingSolution& solution) {
    if (!wanted.ln_rate || operations_of(requirements, solution.num_keys) == 0) return 0.0;
    const double share =
        expected_saturated(keys, solution) / static_cast<double>(solution.shape.num_counters);
    return share > most_saturated_share ? 0.0 : share;
  };
  const auto solve_with = [&](std::uint32_t width) {
    constexpr int most_attempts = 4;
    const Law of_width = law.of_width(width);
    Wanted before_saturation = wanted;
    CountingSolution solution{{1, 1, width, max_threshold}, 0};
    CountingBloomShape& shape = solution.shape;
    check_shape(shape);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const Solution found = solve(structure, of_width, before_saturation, width);
      shape.num_counters = found.num_positions;
      shape.num_hashes = found.num_hashes;
      solution.num_keys = found.num_keys;
      const double share = small_share(solution);
      if (share == 0) break;
      const double ln_rate =
          of_width.ln_promised_rate(shape.num_counters, shape.num_hashes, solution.num_keys);
      const double raised = raised_by_saturation(ln_rate, shape.num_hashes, share);
      if (raised <= *wanted.ln_rate) break;
      *before_saturation.ln_rate = *wanted.ln_rate - 1.01 * (raised - ln_rate);
    }
    return solution;
  };
  if (requirements.counter_bits) return solve_with(*requirements.counter_bits);

  const std::optional<double>& most = requirements.max_saturation_probability;
  if (most) detail::require_probability(structure, "max_saturation_probability", *most);
  detail::require_in_range(structure, "threshold", max_threshold, 1, ~std::uint64_t{0});
  const auto is_wide_enough = [&](const CountingSolution& solution) {
    const std::uint64_t full = ~std::uint64_t{0} >> (64 - solution.shape.counter_bits);
    const std::uint64_t num_replacements = operations_of(requirements, solution.num_keys);
    const auto is_enough_for = [&](const Keys& of) {
      const double expected = expected_saturated(of, solution);
      return expected <= most_saturated_share * static_cast<double>(solution.shape.num_counters) &&
             expected <= most.value_or(expected);
    };
    const bool is_accumulated = num_replacements > 0 && knows_counts_up_to(keys, full);
    return is_enough_for({}) && (!is_accumulated || is_enough_for(keys));
  };
  const auto ln_rate = [&](const CountingSolution& solution) {
    const CountingBloomShape& shape = solution.shape;
    return law.of_width(shape.counter_bits).ln_rate(shape.num_counters, shape.num_hashes, solution.num_keys);
  };
  std::optional<CountingSolution>
      narrow;  // with fewer hashes than are best, so that counters of fewer bits do
  for (std::uint32_t width = std::max(least_counter_bits, CounterArray::width_for(max_threshold));; ++width) {
    if (!CounterArray::is_width(width)) continue;
    CountingSolution solution = solve_with(width);
    // A counter practically never gets 2^32 insertions.
    if (width >= 32 || is_wide_enough(solution))
      return narrow && ln_rate(*narrow) <= ln_rate(solution) ? *narrow : solution;
    if (!wanted.memory_bytes || !wanted.num_keys) continue;
    // More memory must not give wider counters and a higher rate.
    const Law of_width = law.of_width(width);
    const std::uint64_t m = positions_in(*wanted.memory_bytes, width);
    while (solution.shape.num_hashes > of_width.hashes_step) {
      solution.shape.num_hashes -= of_width.hashes_step;
      solution.shape.num_counters = of_width.round(m, solution.shape.num_hashes, Rounding::down);
      if (solution.shape.num_counters == 0 || (narrow && ln_rate(*narrow) <= ln_rate(solution))) break;
      if (is_wide_enough(solution)) {
        narrow = solution;
        break;
      }
    }
  }
}

BloomShape plan_bloom(const Requirements& requirements) {
  return plan_bits<BloomShape>("plan_bloom", law_for(FilterKind::bloom, requirements.scheme, 1),
                               requirements);
}

BlockedBloomShape plan_blocked_bloom(const Requirements& requirements) {
  return plan_bits<BlockedBloomShape>("plan_blocked_bloom", search_law(BlockedScheme::name).law,
                                      requirements);
}

BlockedBloomShape plan_register_blocked_bloom(const Requirements& requirements) {
  return plan_bits<BlockedBloomShape>("plan_register_blocked_bloom",
                                      search_law(RegisterBlockedScheme::name).law, requirements);
}

DuplicateShape plan_duplicate(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_duplicate";
  const Solution found = solve(structure, duplicate_law(), check_wanted(structure, requirements), 1);
  return {found.num_positions, found.num_hashes};
}

CountingBloomShape plan_counting_bloom(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_counting_bloom";
  const Wanted wanted = check_wanted(structure, requirements);
  const Law law = law_for(FilterKind::counting_bloom, requirements.scheme, requirements.theta());
  return solve_counting(structure, counting_law(law), wanted, requirements, {}).shape;
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

  Law law = law_for(FilterKind::threshold, requirements.scheme, theta);
  const std::uint64_t gap = theta - true_count;
  if (gap > 1 && requirements.histogram) {
    law = histogram_law(law, gap, true_count, *requirements.histogram);
  } else if (gap > 1) {
    const auto num_insertions = requirements.num_insertions;
    if (num_insertions)
      require_count(structure, "num_insertions", *num_insertions, num_keys.value_or(1), max_num_positions);
    // Without a number of keys, the planner solves for that of insertions, each of another key.
    law = num_keys ? insertions_law(law, gap, true_count, *num_keys, num_insertions.value_or(*num_keys))
                   : insertions_law(law, gap, true_count, 1, 1);
    if (wanted.num_keys && num_insertions) wanted.num_keys = num_insertions;
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
  return planned("planned_num_keys", law_for(FilterKind::bloom, {}, 1), shape.num_bits, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys(const BlockedBloomShape& shape, double false_positive_rate) {
  return planned("planned_num_keys", search_law(BlockedScheme::name).law, shape.num_bits, shape.num_hashes,
                 false_positive_rate);
}

std::uint64_t planned_num_keys(const DuplicateShape& shape, double false_positive_rate) {
  check_shape(shape);
  detail::require_probability("planned_num_keys", "false_positive_rate", false_positive_rate);
  return most_keys_at(duplicate_law(), shape.num_bits, shape.num_hashes, std::log(false_positive_rate));
}

std::uint64_t planned_num_keys(const CountingBloomShape& shape, double false_positive_rate) {
  return planned_num_keys(FilterShape{shape, DefaultScheme::file_id}, false_positive_rate);
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
  return planned_num_keys(FilterShape{shape, DefaultScheme::file_id}, false_positive_rate);
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

std::uint64_t num_keys_of_positions(const FilterShape& shape, double rate) {
  check_shape(shape);
  Law law = search_law(shape.scheme_name()).law;
  if (shape.made_for_theta().value_or(1) > 1) law = law_of_inserted_keys(law);
  return planned("planned_num_keys", law, shape.num_positions(), shape.num_hashes(), rate);
}

std::uint64_t num_keys_of_sketch(const FilterShape& shape, double /*rate*/) {
  throw std::invalid_argument(
      "planned_num_keys: a " + std::string(name_of(shape.kind())) +
      " sketch is planned for a sum of weights, not for a number of keys; give the shape of a filter");
}

constexpr KindPlanner planners[] = {
    {FilterKind::bloom, shape_by<plan_bloom>, num_keys_of_positions},
    {FilterKind::blocked_bloom, blocked_bloom_shape, num_keys_of_positions},
    {FilterKind::counting_bloom, shape_by<plan_counting_bloom>, num_keys_of_positions},
    {FilterKind::threshold, shape_by<plan_threshold>, num_keys_of_positions},
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

#include "tally/any_filter/simulation_cost.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <variant>

#include "tally/detail/parameter_error.hpp"
#include "tally/planner/operation_costs.hpp"

namespace tally {
namespace {

constexpr double trial_ns = 5000;      // to make an empty filter
constexpr double key_ns = 8;           // to draw a random key and store it
constexpr double byte_ns = 0.3;        // to clear memory
constexpr double least_trials_of = 5;  // of a large filter
constexpr std::uint64_t always_simulated = 1'000'000;

OperationCosts costs_of(const FilterShape& shape) {
  const auto* sketch = std::get_if<CountMinShape>(&shape.shape);
  if (sketch == nullptr) return operation_costs(shape);
  return operation_costs({CountingBloomShape{.num_counters = sketch->num_counters(),
                                             .num_hashes = sketch->num_rows(),
                                             .counter_bits = sketch->counter_bits}});
}

std::uint64_t scaled_size(std::uint64_t size, double factor) {
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::llround(static_cast<double>(size) * factor)));
}

std::uint64_t scaled_side_table(std::uint64_t capacity, double factor) {
  const double share = static_cast<double>(capacity) * factor;
  return std::min(capacity, static_cast<std::uint64_t>(std::ceil(share + 8 * std::sqrt(share) + 64)));
}

/// The field of a shape that says how large it is.
template <class Shape>
std::uint64_t& scalable_size_of(Shape& shape) {
  if constexpr (requires { shape.num_bits; }) {
    return shape.num_bits;
  } else if constexpr (requires { shape.width; }) {
    return shape.width;
  } else if constexpr (requires { shape.buckets_per_subtable; }) {
    return shape.buckets_per_subtable;
  } else if constexpr (requires { shape.num_lines_per_subtable; }) {
    return shape.num_lines_per_subtable;
  } else {
    return shape.num_counters;
  }
}

bool has_doubled(const FilterShape& shape) {
  const auto* dleft = std::get_if<DLeftShape>(&shape.shape);
  return dleft != nullptr && dleft->num_doublings > 0;
}

}  // namespace

double simulation_seconds(const SimulationPlan& plan) {
  const OperationCosts costs = costs_of(plan.shape);
  const InsertionMix mix = insertion_mix(plan);
  std::uint64_t num_inserted = mix.num_single_keys;
  for (const InsertionMix::Group& group : mix.groups)
    num_inserted += group.true_count == 0 ? 0 : group.num_keys;
  // A kind that counts is asked for the count of each key, too.
  const double lookups = traits_of(plan.shape.kind()).can_count ? 2 : 1;
  const double ns = trial_ns + static_cast<double>(plan.num_insertions) * costs.insert_ns +
                    static_cast<double>(num_inserted) * (key_ns + lookups * costs.lookup_present_ns) +
                    static_cast<double>(plan.num_queries) * (key_ns + lookups * costs.lookup_absent_ns) +
                    static_cast<double>(plan.shape.num_bytes()) * byte_ns;
  return 1e-9 * ns * static_cast<double>(plan.num_trials);
}

FilledShape scaled_down(const FilterShape& shape, std::uint64_t num_insertions, double factor) {
  constexpr std::string_view structure = "scaled_down";
  if (!(factor > 0 && factor <= 1))
    detail::throw_parameter_error(structure, "factor", factor, "above 0 and at most 1");
  check_shape(shape);
  if (has_doubled(shape))
    detail::throw_parameter_error(structure, "num_doublings", std::get<DLeftShape>(shape.shape).num_doublings,
                                  "0: the sizes of a filter that has doubled belong together");
  FilterShape smaller = shape;
  std::visit(
      [factor](auto& own) {
        std::uint64_t& size = scalable_size_of(own);
        size = scaled_size(size, factor);
        if constexpr (requires { own.spill_capacity; })
          own.spill_capacity = scaled_side_table(own.spill_capacity, factor);
      },
      smaller.shape);
  smaller = round_to_scheme(smaller, Rounding::up);
  const double exact =
      static_cast<double>(smaller.num_positions()) / static_cast<double>(shape.num_positions());
  return {smaller, scaled_size(num_insertions, std::min(1.0, exact))};
}

FilledShape small_enough_to_simulate(const FilterShape& shape, std::uint64_t num_insertions, double seconds) {
  check_shape(shape);
  FilledShape found{shape, num_insertions};
  if (has_doubled(shape)) return found;
  // A smaller filter is closer to the processor, so that a first step may be too far; not one that is too short.
  for (int step = 0; step < 8; ++step) {
    SimulationPlan plan{.shape = found.shape, .num_insertions = found.num_insertions, .should_stop = {}};
    plan.num_trials = 1;
    const double ratio = seconds / 2 / least_trials_of / simulation_seconds(plan);
    if (ratio >= 1 || found.num_insertions <= always_simulated) break;
    const double least = static_cast<double>(always_simulated) / static_cast<double>(num_insertions);
    const double factor =
        static_cast<double>(found.num_insertions) / static_cast<double>(num_insertions) * ratio;
    found = scaled_down(shape, num_insertions, std::max(least, factor));
  }
  return found;
}

}  // namespace tally

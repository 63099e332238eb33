#include <algorithm>
#include <cmath>
#include <string_view>

#include "planner/dleft_loads.hpp"
#include "planner/dleft_moves.hpp"
#include "planner/dleft_search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/dleft_safe_load.hpp"

namespace tally {

using namespace planner_detail;

DLeftShape plan_dleft(const Requirements& requirements) {
  constexpr std::string_view structure = "plan_dleft";
  const DLeftSolution best = solve_dleft(structure, requirements, DLeftLoops::any);
  if (!requirements.prefers_speed || has_vector_loops(best.shape)) return best.shape;
  const auto fast = find_dleft(structure, requirements, DLeftLoops::vector);
  return fast && is_worth_its_speed(*fast, best) ? fast->shape : best.shape;
}

std::uint64_t planned_num_keys(const DLeftShape& shape, double false_positive_rate) {
  check_shape(shape);
  detail::require_probability("planned_num_keys", "false_positive_rate", false_positive_rate);
  const double ln_target = std::log(false_positive_rate);
  const std::uint64_t num_buckets = shape.current_buckets_per_subtable();
  const std::uint64_t num_remainders = shape.fingerprint_space().num_remainders() >> shape.num_doublings;
  const bool is_tabulated = is_planned_layout(shape.num_subtables, shape.cells_per_bucket);
  const double carried_by_any =
      is_tabulated ? 0
                   : theory::dleft_safe_load(shape.num_subtables, num_buckets, shape.cells_per_bucket,
                                             default_replacements_per_key * shape.num_cells(),
                                             default_failure_probability) /
                         shape.cells_per_bucket;
  const double of_parts = shape.num_doublings == 0 ? 0 : default_failure_probability / 2;
  const auto carried = [&](std::uint64_t num_keys) {
    if (!is_tabulated) return carried_by_any;
    return CarriedLoads{
        .num_subtables = shape.num_subtables,
        .cells_per_bucket = shape.cells_per_bucket,
        .lifetime = {num_buckets, num_keys, default_replacements_per_key * num_keys,
                     std::uint64_t{1} << shape.num_doublings},
        .failure_probability = default_failure_probability - of_parts,
        .max_moves_per_insertion = shape.moves == DLeftMoves::search ? default_moves_per_insertion : 0}
        .largest();
  };
  const auto fits = [&](std::uint64_t num_keys) {
    const std::uint64_t as_if = keys_as_in_fullest_part(num_keys, shape.num_doublings,
                                                        default_replacements_per_key * num_keys, of_parts);
    return ln_dleft_rate(shape, num_keys) <= ln_target &&
           theory::dleft_distinct_load(shape.num_subtables, num_buckets, num_remainders, as_if) <=
               carried(num_keys) * shape.cells_per_bucket;
  };
  std::uint64_t low = 0;  // fits
  std::uint64_t high = 1;
  while (high < std::uint64_t{1} << 50 && fits(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace tally

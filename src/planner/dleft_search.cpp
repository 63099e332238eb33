#include "planner/dleft_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "planner/dleft_loads.hpp"
#include "planner/dleft_moves.hpp"
#include "planner/dleft_requirements.hpp"
#include "planner/dleft_spills.hpp"
#include "tally/detail/dleft/kernels.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::uint32_t cell_widths[] = {8, 12, 16, 24, 32};
constexpr std::uint32_t least_remainder_bits =
    4;  // with fewer bits more than 1 of 16 remainders would be wasted
constexpr std::uint32_t bits_of_frequent_keys = 2;

double moves_of(const Requirements& requirements) {
  return requirements.max_moves_per_insertion.value_or(default_moves_per_insertion);
}

/// The share of cells in use.
double load_of(const DLeftShape& shape, std::uint64_t num_all_keys, std::uint32_t num_doublings) {
  return theory::dleft_distinct_load(shape.num_subtables, shape.buckets_per_subtable << num_doublings,
                                     shape.fingerprint_space().num_remainders() >> num_doublings,
                                     num_all_keys) /
         shape.cells_per_bucket;
}

Lifetime lifetime_of(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys,
                     std::uint32_t num_doublings) {
  const std::uint64_t keys = after_doublings(num_keys, num_doublings);
  return {shape.buckets_per_subtable << num_doublings, keys, operations_of(requirements, keys),
          std::uint64_t{1} << num_doublings};
}

/// A filter after doublings: the load of its fullest part, and which loads it can have. Half of the failure probability is
/// reserved for its parts.
struct Filled {
  double load = 0;
  double failure_of_parts = 0;
  CarriedLoads limits;

  bool is_carried() const { return limits.are_carried(load); }
  double failure_probability() const {
    return std::min(1.0, failure_of_parts + limits.failure_probability_at(load));
  }
};

Filled filled_after(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys,
                    std::uint32_t num_doublings) {
  const Lifetime lifetime = lifetime_of(shape, requirements, num_keys, num_doublings);
  const double of_cells = (1 - side_table_share) * failure_of(requirements);
  const double of_parts = num_doublings == 0 ? 0 : of_cells / 2;
  return {.load = load_of(
              shape, keys_as_in_fullest_part(lifetime.num_keys, num_doublings, lifetime.operations, of_parts),
              num_doublings),
          .failure_of_parts = of_parts,
          .limits = {.num_subtables = shape.num_subtables,
                     .cells_per_bucket = shape.cells_per_bucket,
                     .lifetime = lifetime,
                     .failure_probability = of_cells - of_parts,
                     .max_moves_per_insertion = moves_of(requirements)}};
}

/// Searches one layout with one kind of cell for the numbers of buckets, of entries in the side table, and of keys.
class Search {
 public:
  Search(const Requirements& requirements, const Wanted& wanted, const DLeftShape& layout)
      : requirements_(requirements), wanted_(wanted), layout_(layout) {}

  /// The shape with the least memory, below `limit`, that holds the keys at the rate.
  std::optional<DLeftShape> least_memory(std::uint64_t num_keys, std::uint64_t limit) const {
    const auto meets = [&](std::uint64_t num_buckets) {
      const DLeftShape shape = with(num_buckets, 0);
      return ln_dleft_rate(shape, num_keys) <= *wanted_.ln_rate && carries(shape, num_keys);
    };
    const auto fewest = first_good(1, most_buckets(), meets);
    if (!fewest) return std::nullopt;
    // With more buckets fewer keys share fingerprints, and a side table of half the size may be enough.
    std::optional<DLeftShape> best;
    std::uint64_t num_slots = max_num_slots;
    for (std::uint64_t num_buckets = *fewest; num_bytes(with(num_buckets, 0)) < limit;) {
      const std::uint64_t needed = spills_needed(with(num_buckets, 0), requirements_, num_keys);
      if (needed <= capacity_of(num_slots)) num_slots = SpillTable::num_slots(needed);
      const DLeftShape shape = with(num_buckets, capacity_of(num_slots));
      if (needed <= shape.spill_capacity && num_bytes(shape) < limit) {
        best = shape;
        limit = num_bytes(shape);
      }
      if (num_slots == 0) break;
      num_slots /= 2;
      const auto more = first_good(num_buckets, most_buckets(), [&](std::uint64_t buckets) {
        return spills_needed(with(buckets, 0), requirements_, num_keys) <= capacity_of(num_slots);
      });
      if (!more) break;
      num_buckets = *more;
    }
    return best;
  }

  /// The shape with the most buckets that fits into the memory and has a large enough side table for the keys.
  std::optional<DLeftShape> most_buckets_in_memory(std::uint64_t num_keys) const {
    for (std::uint64_t num_slots = 1; num_slots <= max_num_slots; num_slots *= 2) {
      const std::uint64_t capacity = capacity_of(num_slots);
      const auto too_many = first_good(1, most_buckets() + 1, [&](std::uint64_t num_buckets) {
        return num_buckets > most_buckets() || num_bytes(with(num_buckets, capacity)) > *wanted_.memory_bytes;
      });
      const std::uint64_t num_buckets = *too_many - 1;
      if (num_buckets == 0) return std::nullopt;
      if (spills_needed(with(num_buckets, 0), requirements_, num_keys) > capacity) continue;
      const DLeftShape shape = with(num_buckets, capacity);
      if (!carries(shape, num_keys)) return std::nullopt;
      return shape;
    }
    return std::nullopt;
  }

  /// The most keys, more than `num_keys`, that memory and rate allow.
  std::optional<DLeftSolution> most_keys(std::uint64_t num_keys) const {
    const auto shape_for = [&](std::uint64_t keys) { return least_memory(keys, limit_of_memory()); };
    if (num_keys >= max_dleft_keys || !shape_for(num_keys + 1)) return std::nullopt;
    const auto too_many = first_good(num_keys + 2, max_dleft_keys + 1, [&](std::uint64_t keys) {
      return keys > max_dleft_keys || !shape_for(keys);
    });
    return DLeftSolution{*shape_for(*too_many - 1), *too_many - 1};
  }

 private:
  static constexpr std::uint64_t max_num_slots = std::uint64_t{1} << 32;

  DLeftShape with(std::uint64_t num_buckets, std::uint64_t spill_capacity) const {
    DLeftShape shape = layout_;
    shape.buckets_per_subtable = num_buckets;
    shape.spill_capacity = spill_capacity;
    return shape;
  }
  std::uint64_t most_buckets() const {
    return std::min(max_num_buckets >> doublings_of(requirements_),
                    max_fingerprints >> layout_.remainder_bits);
  }
  std::uint64_t limit_of_memory() const {
    return *wanted_.memory_bytes == ~std::uint64_t{0} ? *wanted_.memory_bytes : *wanted_.memory_bytes + 1;
  }
  /// Whether the cells have room for the keys. False if there are fewer fingerprints than keys: cells and side table
  /// would have room for all fingerprints, but almost every lookup would be a false positive.
  bool carries(const DLeftShape& shape, std::uint64_t num_keys) const {
    if (shape.fingerprint_space().num_fingerprints() <
        static_cast<double>(after_doublings(num_keys, doublings_of(requirements_))))
      return false;
    const auto carries_after = [&](std::uint32_t num_doublings) {
      return filled_after(shape, requirements_, num_keys, num_doublings).is_carried();
    };
    return carries_after(0) &&
           (doublings_of(requirements_) == 0 || carries_after(doublings_of(requirements_)));
  }
  const Requirements& requirements_;
  const Wanted& wanted_;
  DLeftShape layout_;
};

/// Calls visit(Search) for every layout and kind of cell that the requirements and `loops` allow.
template <class Visit>
void for_each_search(const Requirements& requirements, const Wanted& wanted, DLeftLoops loops, Visit visit) {
  const bool any_counter = requirements.histogram || !requirements.keys_repeat;
  for (const std::uint32_t d : planned_subtables) {
    if (requirements.num_subtables.value_or(d) != d) continue;
    for (const std::uint32_t c : planned_cells_per_bucket) {
      for (const std::uint32_t cell_bits : cell_widths) {
        for (std::uint32_t counter_bits = any_counter ? 0 : bits_of_frequent_keys;
             counter_bits <= max_dleft_counter_bits; ++counter_bits) {
          const std::uint32_t remainder_bits = cell_bits - counter_bits;
          if (remainder_bits < least_remainder_bits + doublings_of(requirements)) continue;
          const DLeftShape layout{.buckets_per_subtable = 1,
                                  .num_subtables = d,
                                  .cells_per_bucket = c,
                                  .remainder_bits = remainder_bits,
                                  .counter_bits = counter_bits,
                                  .least_remainder_bits = remainder_bits - doublings_of(requirements),
                                  .grows = doublings_of(requirements) > 0};
          if (loops == DLeftLoops::vector && !has_vector_loops(layout)) continue;
          visit(Search(requirements, wanted, layout));
        }
      }
    }
  }
}

void check_own(std::string_view structure, const Requirements& requirements) {
  detail::require_in_range(structure, "num_frequent_keys", frequent_keys_of(requirements), 0,
                           max_frequent_keys);
  require_failure_probability(structure, requirements);
  require_insertions(structure, requirements);
  detail::require_in_range(structure, "max_moves_per_insertion", moves_of(requirements), 0.0,
                           most_planned_moves);
  detail::require_in_range(structure, "max_doublings", doublings_of(requirements), 0,
                           max_remainder_bits - least_remainder_bits);
  if (requirements.num_subtables)
    require_count(structure, "num_subtables", *requirements.num_subtables, 2, 4);
  if (requirements.histogram && (requirements.num_keys || frequent_keys_of(requirements) != 0)) {
    throw std::invalid_argument(std::string(structure) + ": histogram and " +
                                (requirements.num_keys ? "num_keys" : "num_frequent_keys") +
                                " are given; leave the latter out: the histogram contains it");
  }
  if (!requirements.keys_repeat && frequent_keys_of(requirements) != 0) {
    throw std::invalid_argument(
        std::string(structure) +
        ": num_frequent_keys is given although keys_repeat is false; leave one of them out");
  }
}

Wanted wanted_of(std::string_view structure, const Requirements& requirements) {
  std::optional<std::uint64_t> num_keys = requirements.num_keys;
  if (requirements.histogram) num_keys = num_keys_of(structure, *requirements.histogram);
  const Wanted wanted = check_wanted(structure, requirements, num_keys);
  if (num_keys) require_count(structure, "num_keys", *num_keys, 1, max_dleft_keys);
  return wanted;
}

std::optional<DLeftSolution> best_of(const Requirements& requirements, const Wanted& wanted,
                                     DLeftLoops loops) {
  const std::uint64_t num_keys = wanted.num_keys.value_or(0);
  std::optional<DLeftSolution> best;
  if (!wanted.memory_bytes) {
    std::uint64_t limit = ~std::uint64_t{0};
    for_each_search(requirements, wanted, loops, [&](const Search& search) {
      if (const auto shape = search.least_memory(num_keys, limit)) limit = num_bytes(*shape);
    });
    // Among shapes of almost the least memory take the lowest rate: one bit more of the remainder costs little memory.
    if (limit != ~std::uint64_t{0}) limit += limit / 100 + 1;
    for_each_search(requirements, wanted, loops, [&](const Search& search) {
      const auto shape = search.least_memory(num_keys, limit);
      if (shape && (!best || ln_dleft_rate(*shape, num_keys) < ln_dleft_rate(best->shape, num_keys)))
        best = {*shape, num_keys};
    });
  } else if (wanted.num_keys) {
    double least = std::numeric_limits<double>::infinity();
    for_each_search(requirements, wanted, loops, [&](const Search& search) {
      const auto shape = search.most_buckets_in_memory(num_keys);
      if (!shape || !(ln_dleft_rate(*shape, num_keys) < least)) return;
      best = {*shape, num_keys};
      least = ln_dleft_rate(*shape, num_keys);
    });
  } else {
    for_each_search(requirements, wanted, loops, [&](const Search& search) {
      if (const auto found = search.most_keys(best ? best->num_keys : 0)) best = found;
    });
  }
  return best;
}

[[noreturn]] void throw_out_of_reach(std::string_view structure, const Wanted& wanted) {
  if (!wanted.memory_bytes) {
    detail::throw_parameter_error(structure, "false_positive_rate", std::exp(*wanted.ln_rate),
                                  "higher, or max_doublings lower: even cells of 32 bits do not meet it");
  }
  detail::throw_parameter_error(structure, "memory_bytes", *wanted.memory_bytes,
                                wanted.num_keys
                                    ? "larger: there is no room for the keys"
                                    : "larger: the false positive rate cannot be met for even one key");
}

}  // namespace

std::uint64_t keys_as_in_fullest_part(std::uint64_t num_keys, std::uint32_t num_doublings,
                                      std::uint64_t operations, double failure_probability) {
  if (num_doublings == 0 || num_keys == 0) return num_keys;
  const double num_parts = std::ldexp(1.0, static_cast<int>(num_doublings));
  const double mean = static_cast<double>(num_keys) / num_parts;
  // A part has one independent state for each time that all keys are replaced. Bernstein: the probability of more than
  // t above the mean is below exp(-t^2 / (2 (mean + t / 3))).
  const double num_states = num_parts * (1 + static_cast<double>(operations) / static_cast<double>(num_keys));
  const double ln_rare = std::log(num_states / failure_probability);
  const double most = mean + ln_rare / 3 + std::sqrt(ln_rare * ln_rare / 9 + 2 * mean * ln_rare);
  return static_cast<std::uint64_t>(std::min(most * num_parts, 0x1p62));
}

double ln_dleft_rate(const DLeftShape& shape, std::uint64_t num_keys) {
  const FingerprintSpace space = shape.fingerprint_space();
  return theory::ln_dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys);
}

DLeftSolution solve_dleft(std::string_view structure, const Requirements& requirements, DLeftLoops loops) {
  if (const auto best = find_dleft(structure, requirements, loops)) return *best;
  throw_out_of_reach(structure, wanted_of(structure, requirements));
}

std::optional<DLeftSolution> find_dleft(std::string_view structure, const Requirements& requirements,
                                        DLeftLoops loops) {
  check_own(structure, requirements);
  const Wanted wanted = wanted_of(structure, requirements);
  auto best = best_of(requirements, wanted, loops);
  if (best) check_shape(best->shape);
  return best;
}

bool has_vector_loops(const DLeftShape& shape) noexcept { return detail::dleft_kernels(shape) != nullptr; }

bool is_worth_its_speed(const DLeftSolution& fast, const DLeftSolution& best) {
  return num_bytes(fast.shape) / 2 <= num_bytes(best.shape) && best.num_keys / 2 <= fast.num_keys;
}

DLeftForecast forecast_of(const DLeftSolution& solution, const Requirements& requirements) {
  const auto& [shape, num_keys] = solution;
  DLeftForecast forecast;
  forecast.load = load_of(shape, num_keys, 0);
  const CarriedLoads limits = filled_after(shape, requirements, num_keys, 0).limits;
  forecast.carried_load = limits.largest();
  forecast.carried_load_without_moves = limits.largest_without_moves();
  forecast.max_moves_per_insertion = limits.max_moves_per_insertion;
  forecast.moves_per_insertion = moves_per_insertion(shape.num_subtables, shape.cells_per_bucket,
                                                     limits.lifetime.operations != 0, forecast.load);
  forecast.lifetime_operations = operations_of(requirements, num_keys);
  forecast.expected_spills = expected_spills(shape, requirements, num_keys);
  forecast.has_fast_loops = has_vector_loops(shape);
  DLeftShape size = shape;
  for (std::uint32_t s = 0; s <= doublings_of(requirements); ++s) {
    size.num_doublings = s;
    const std::uint64_t keys = after_doublings(num_keys, s);
    forecast.sizes.push_back({s, keys, num_bytes(size), std::exp(ln_dleft_rate(shape, keys))});
    // The filter can fill up only at its largest size; before that it doubles.
    forecast.failure_probability = filled_after(shape, requirements, num_keys, s).failure_probability();
  }
  forecast.failure_probability =
      std::min(1.0, forecast.failure_probability + side_table_failure(shape, requirements, num_keys));
  return forecast;
}

}  // namespace tally::planner_detail

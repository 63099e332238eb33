#include "planner/dleft_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "planner/dleft_loads.hpp"
#include "tally/detail/dleft/kernels.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/tails.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::uint64_t max_num_keys = std::uint64_t{1} << 40;
constexpr std::uint64_t max_frequent_keys = std::uint64_t{1} << 31;
constexpr std::uint64_t max_fingerprints = std::uint64_t{1} << 62;
constexpr std::uint32_t cell_widths[] = {8, 12, 16, 24, 32};
constexpr std::uint32_t least_remainder_bits = 4;  // fewer would waste more than 1 of 16 remainders
constexpr std::uint32_t bits_of_frequent_keys = 2;
constexpr double spare_spills = 64;

std::uint64_t after_doublings(std::uint64_t number, std::uint32_t num_doublings) {
  const std::uint64_t most = max_fingerprints >> num_doublings;
  return std::min(number, most) << num_doublings;
}

std::uint64_t operations_of(const DLeftRequest& request, std::uint64_t num_keys) {
  if (request.lifetime_operations) return *request.lifetime_operations;
  return default_replacements_per_key * std::min(num_keys, max_fingerprints / default_replacements_per_key);
}

/// Cells in use of all cells.
double load_of(const DLeftShape& shape, std::uint64_t num_all_keys, std::uint32_t num_doublings) {
  return theory::dleft_distinct_load(shape.num_subtables, shape.buckets_per_subtable << num_doublings,
                                     shape.fingerprint_space().num_remainders() >> num_doublings,
                                     num_all_keys) /
         shape.cells_per_bucket;
}

Lifetime lifetime_of(const DLeftShape& shape, const DLeftRequest& request, std::uint64_t num_keys,
                     std::uint32_t num_doublings) {
  const std::uint64_t keys = after_doublings(num_keys, num_doublings);
  return {shape.buckets_per_subtable << num_doublings, keys, operations_of(request, keys)};
}

/// Load and failure of a table that has doubled so often: half of the failures are left to its parts.
struct Carried {
  double load = 0;          // of its fullest part
  double carried_load = 0;  // at the failure probability that is left
  double failure_probability = 0;
};

Carried carried_after(const DLeftShape& shape, const DLeftRequest& request, std::uint64_t num_keys,
                      std::uint32_t num_doublings) {
  const Lifetime lifetime = lifetime_of(shape, request, num_keys, num_doublings);
  const double of_parts = num_doublings == 0 ? 0 : request.failure_probability / 2;
  const double load =
      load_of(shape, keys_as_in_fullest_part(lifetime.num_keys, num_doublings, lifetime.operations, of_parts),
              num_doublings);
  return {load,
          carried_load(shape.num_subtables, shape.cells_per_bucket, lifetime,
                       request.failure_probability - of_parts),
          std::min(1.0, of_parts + failure_probability_at(shape.num_subtables, shape.cells_per_bucket,
                                                          lifetime, load))};
}

/// So many keys of one fingerprint may be in it oftener together than a cell counts. Keys that repeat may all be in it
/// as often as keys that are not frequent are: their number, not the least one, is what a plan has to hold.
std::uint64_t keys_past_a_cell(const DLeftShape& shape, const DLeftRequest& request) {
  const std::uint64_t times_each = request.keys_repeat ? dleft_common_key_count : 1;
  return (std::uint64_t{1} << shape.counter_bits) / times_each + 1;
}

/// Fingerprints whose keys may be in it oftener than a cell counts, an expected number, at the largest size.
double expected_spills(const DLeftShape& shape, const DLeftRequest& request, std::uint64_t num_keys) {
  const double num_fingerprints = shape.fingerprint_space().num_fingerprints();
  if (!request.histogram) {
    const double keys_each =
        std::ldexp(static_cast<double>(num_keys), request.max_doublings) / num_fingerprints;
    return static_cast<double>(request.num_frequent_keys) +
           num_fingerprints *
               std::exp(theory::ln_poisson_upper_tail(keys_past_a_cell(shape, request), keys_each));
  }
  std::uint64_t told = (std::uint64_t{1} << shape.counter_bits) + 1;
  if (request.histogram->keys_beyond > 0)
    told = std::min<std::uint64_t>(told, request.histogram->keys_with_count.size());
  // As many more keys as there are doublings is the same as so many fewer fingerprints.
  const double as_if = std::max(1.0, std::ldexp(num_fingerprints, -static_cast<int>(request.max_doublings)));
  return num_fingerprints * std::exp(theory::ln_counter_upper_tail(*request.histogram, 1,
                                                                   static_cast<std::uint64_t>(as_if), told));
}

double needed_spills(double expected) { return std::ceil(expected + 6 * std::sqrt(expected) + spare_spills); }

/// The most entries that so many slots may have: two thirds, less one.
std::uint64_t capacity_of(std::uint64_t num_slots) {
  std::uint64_t capacity = num_slots * 2 / 3;
  while (SpillTable::num_slots(capacity) > num_slots) --capacity;
  return capacity;
}

/// The first number in [low, high] that is good, where all behind it are, too; nothing if there is none.
template <class Good>
std::optional<std::uint64_t> first_good(std::uint64_t low, std::uint64_t high, Good good) {
  if (low > high || !good(high)) return std::nullopt;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (good(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// One layout and one kind of cell; buckets, side table and keys are open.
class Search {
 public:
  Search(const DLeftRequest& request, const Wanted& wanted, const DLeftShape& layout)
      : request_(request), wanted_(wanted), layout_(layout) {}

  /// The least memory below `limit` for so many keys at the rate.
  std::optional<DLeftShape> least_memory(std::uint64_t num_keys, std::uint64_t limit) const {
    const auto keeps = [&](std::uint64_t num_buckets) {
      const DLeftShape shape = with(num_buckets, 0);
      return ln_dleft_rate(shape, num_keys) <= wanted_.ln_rate && carries(shape, num_keys);
    };
    const auto fewest = first_good(1, most_buckets(), keeps);
    if (!fewest) return std::nullopt;
    // More buckets are fewer shared fingerprints; a side table of half the size may be worth them.
    std::optional<DLeftShape> best;
    std::uint64_t num_slots = max_num_slots;
    for (std::uint64_t num_buckets = *fewest; num_bytes(with(num_buckets, 0)) < limit;) {
      const double needed = spills_needed(num_buckets, num_keys);
      if (needed <= static_cast<double>(capacity_of(num_slots)))
        num_slots = SpillTable::num_slots(static_cast<std::uint64_t>(needed));
      const DLeftShape shape = with(num_buckets, capacity_of(num_slots));
      if (needed <= static_cast<double>(shape.spill_capacity) && num_bytes(shape) < limit) {
        best = shape;
        limit = num_bytes(shape);
      }
      num_slots /= 2;
      const auto more = first_good(num_buckets, most_buckets(), [&](std::uint64_t buckets) {
        return spills_needed(buckets, num_keys) <= static_cast<double>(capacity_of(num_slots));
      });
      if (!more) break;
      num_buckets = *more;
    }
    return best;
  }

  /// The most buckets that fit the memory with a side table that is enough, for so many keys.
  std::optional<DLeftShape> most_buckets_in_memory(std::uint64_t num_keys) const {
    for (std::uint64_t num_slots = 1; num_slots <= max_num_slots; num_slots *= 2) {
      const std::uint64_t capacity = capacity_of(num_slots);
      const auto too_many = first_good(1, most_buckets() + 1, [&](std::uint64_t num_buckets) {
        return num_buckets > most_buckets() || num_bytes(with(num_buckets, capacity)) > wanted_.memory_bytes;
      });
      const std::uint64_t num_buckets = *too_many - 1;
      if (num_buckets == 0) return std::nullopt;
      if (spills_needed(num_buckets, num_keys) > static_cast<double>(capacity)) continue;
      const DLeftShape shape = with(num_buckets, capacity);
      if (!carries(shape, num_keys)) return std::nullopt;
      return shape;
    }
    return std::nullopt;
  }

  /// The most keys, more than `num_keys`, that memory and rate allow.
  std::optional<DLeftSolution> most_keys(std::uint64_t num_keys) const {
    const auto shape_for = [&](std::uint64_t keys) { return least_memory(keys, limit_of_memory()); };
    if (num_keys >= max_num_keys || !shape_for(num_keys + 1)) return std::nullopt;
    const auto too_many = first_good(num_keys + 2, max_num_keys + 1, [&](std::uint64_t keys) {
      return keys > max_num_keys || !shape_for(keys);
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
    return std::min(max_num_buckets >> request_.max_doublings, max_fingerprints >> layout_.remainder_bits);
  }
  std::uint64_t limit_of_memory() const {
    return wanted_.memory_bytes == ~std::uint64_t{0} ? wanted_.memory_bytes : wanted_.memory_bytes + 1;
  }
  /// Nor is a filter planned whose keys mostly share fingerprints: its few cells and its side table would carry them,
  /// since there are no more fingerprints than that, and almost every key would pass.
  bool carries(const DLeftShape& shape, std::uint64_t num_keys) const {
    if (shape.fingerprint_space().num_fingerprints() <
        static_cast<double>(after_doublings(num_keys, request_.max_doublings)))
      return false;
    const auto carries_after = [&](std::uint32_t num_doublings) {
      const Carried carried = carried_after(shape, request_, num_keys, num_doublings);
      return carried.load <= carried.carried_load;
    };
    return carries_after(0) && (request_.max_doublings == 0 || carries_after(request_.max_doublings));
  }
  /// Falls with the buckets, as the searches need it. So it is not less than for keys that share no fingerprint: among
  /// few fingerprints frequent keys share theirs, too, and entries are saved.
  double spills_needed(std::uint64_t num_buckets, std::uint64_t num_keys) const {
    const DLeftShape shape = with(num_buckets, 0);
    return needed_spills(std::max(expected_spills(shape, request_, num_keys), spills_alone(shape)));
  }
  /// Keys that are in it oftener than a cell counts by themselves.
  double spills_alone(const DLeftShape& shape) const {
    if (!request_.histogram) return static_cast<double>(request_.num_frequent_keys);
    const auto& keys_with_count = request_.histogram->keys_with_count;
    double sum = request_.histogram->keys_beyond;
    for (std::size_t c = (std::size_t{1} << shape.counter_bits) + 1; c < keys_with_count.size(); ++c)
      sum += keys_with_count[c];
    return std::ldexp(sum, request_.max_doublings);
  }

  const DLeftRequest& request_;
  const Wanted& wanted_;
  DLeftShape layout_;
};

/// visit(Search) for every layout and kind of cell that the request and `loops` leave open.
template <class Visit>
void for_each_search(const DLeftRequest& request, const Wanted& wanted, DLeftLoops loops, Visit visit) {
  const bool any_counter = request.histogram || !request.keys_repeat;
  for (const std::uint32_t d : planned_subtables) {
    if (request.num_subtables != 0 && request.num_subtables != d) continue;
    for (const std::uint32_t c : planned_cells_per_bucket) {
      for (const std::uint32_t cell_bits : cell_widths) {
        for (std::uint32_t counter_bits = any_counter ? 0 : bits_of_frequent_keys;
             counter_bits <= max_dleft_counter_bits; ++counter_bits) {
          const std::uint32_t remainder_bits = cell_bits - counter_bits;
          if (remainder_bits < least_remainder_bits + request.max_doublings) continue;
          const DLeftShape layout{.buckets_per_subtable = 1,
                                  .num_subtables = d,
                                  .cells_per_bucket = c,
                                  .remainder_bits = remainder_bits,
                                  .counter_bits = counter_bits,
                                  .least_remainder_bits = remainder_bits - request.max_doublings,
                                  .grows = request.max_doublings > 0};
          if (loops == DLeftLoops::vector && !has_vector_loops(layout)) continue;
          visit(Search(request, wanted, layout));
        }
      }
    }
  }
}

void check_request(std::string_view structure, const DLeftRequest& request) {
  detail::require_in_range(structure, "num_frequent_keys", request.num_frequent_keys, 0, max_frequent_keys);
  detail::require_in_range(structure, "failure_probability", request.failure_probability, 1e-15, 0.5);
  detail::require_in_range(structure, "max_doublings", request.max_doublings, 0,
                           max_remainder_bits - least_remainder_bits);
  if (request.num_subtables != 0)
    detail::require_in_range(structure, "num_subtables", request.num_subtables, 2, 4);
  if (request.histogram && (request.num_keys != 0 || request.num_frequent_keys != 0)) {
    throw std::invalid_argument(std::string(structure) + ": histogram is given, and " +
                                (request.num_keys != 0 ? "num_keys" : "num_frequent_keys") +
                                " too; leave that out, the histogram says it");
  }
  if (!request.keys_repeat && request.num_frequent_keys != 0) {
    throw std::invalid_argument(
        std::string(structure) +
        ": num_frequent_keys is given, and keys_repeat is false; leave one of them out");
  }
}

Wanted wanted_of(std::string_view structure, const DLeftRequest& request) {
  const std::uint64_t num_keys =
      request.histogram ? num_keys_of(structure, *request.histogram) : request.num_keys;
  const Wanted wanted = check_wanted(structure, num_keys, request.false_positive_rate, request.memory_bytes);
  if (num_keys != 0) detail::require_in_range(structure, "num_keys", num_keys, 1, max_num_keys);
  return wanted;
}

std::optional<DLeftSolution> best_of(const DLeftRequest& request, const Wanted& wanted, DLeftLoops loops) {
  const std::uint64_t num_keys = wanted.num_keys;
  std::optional<DLeftSolution> best;
  if (wanted.memory_bytes == 0) {
    std::uint64_t limit = ~std::uint64_t{0};
    for_each_search(request, wanted, loops, [&](const Search& search) {
      if (const auto shape = search.least_memory(num_keys, limit)) limit = num_bytes(*shape);
    });
    // A bit of the remainder costs next to nothing: a shared fingerprint is a cell saved.
    if (limit != ~std::uint64_t{0}) limit += limit / 100 + 1;
    for_each_search(request, wanted, loops, [&](const Search& search) {
      const auto shape = search.least_memory(num_keys, limit);
      if (shape && (!best || ln_dleft_rate(*shape, num_keys) < ln_dleft_rate(best->shape, num_keys)))
        best = {*shape, num_keys};
    });
  } else if (num_keys != 0) {
    double least = std::numeric_limits<double>::infinity();
    for_each_search(request, wanted, loops, [&](const Search& search) {
      const auto shape = search.most_buckets_in_memory(num_keys);
      if (!shape || !(ln_dleft_rate(*shape, num_keys) < least)) return;
      best = {*shape, num_keys};
      least = ln_dleft_rate(*shape, num_keys);
    });
  } else {
    for_each_search(request, wanted, loops, [&](const Search& search) {
      if (const auto found = search.most_keys(best ? best->num_keys : 0)) best = found;
    });
  }
  return best;
}

[[noreturn]] void throw_out_of_reach(std::string_view structure, const Wanted& wanted) {
  if (wanted.memory_bytes == 0) {
    detail::throw_parameter_error(structure, "false_positive_rate", detail::text_of(std::exp(wanted.ln_rate)),
                                  "higher, or max_doublings lower: no cell of 32 bits keeps it");
  }
  detail::throw_parameter_error(structure, "memory_bytes", std::to_string(wanted.memory_bytes),
                                wanted.num_keys != 0 ? "more: the keys find no room in it"
                                                     : "more: not even one key keeps the rate in it");
}

}  // namespace

std::uint64_t keys_as_in_fullest_part(std::uint64_t num_keys, std::uint32_t num_doublings,
                                      std::uint64_t operations, double failure_probability) {
  if (num_doublings == 0 || num_keys == 0) return num_keys;
  const double num_parts = std::ldexp(1.0, static_cast<int>(num_doublings));
  const double mean = static_cast<double>(num_keys) / num_parts;
  // As many independent states of a part as there are times that all keys are replaced. Bernstein: more than t above
  // the mean has a probability below exp(-t^2 / (2 (mean + t / 3))).
  const double num_states = num_parts * (1 + static_cast<double>(operations) / static_cast<double>(num_keys));
  const double ln_rare = std::log(num_states / failure_probability);
  const double most = mean + ln_rare / 3 + std::sqrt(ln_rare * ln_rare / 9 + 2 * mean * ln_rare);
  return static_cast<std::uint64_t>(std::min(most * num_parts, 0x1p62));
}

double ln_dleft_rate(const DLeftShape& shape, std::uint64_t num_keys) {
  const FingerprintSpace space = shape.fingerprint_space();
  return theory::ln_dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys);
}

DLeftSolution solve_dleft(std::string_view structure, const DLeftRequest& request, DLeftLoops loops) {
  if (const auto best = find_dleft(structure, request, loops)) return *best;
  throw_out_of_reach(structure, wanted_of(structure, request));
}

std::optional<DLeftSolution> find_dleft(std::string_view structure, const DLeftRequest& request,
                                        DLeftLoops loops) {
  check_request(structure, request);
  const Wanted wanted = wanted_of(structure, request);
  auto best = best_of(request, wanted, loops);
  if (best) check_shape(best->shape);
  return best;
}

bool has_vector_loops(const DLeftShape& shape) noexcept { return detail::dleft_kernels(shape) != nullptr; }

bool is_worth_its_speed(const DLeftSolution& fast, const DLeftSolution& best) {
  return num_bytes(fast.shape) / 2 <= num_bytes(best.shape) && best.num_keys / 2 <= fast.num_keys;
}

DLeftForecast forecast_of(const DLeftSolution& solution, const DLeftRequest& request) {
  const auto& [shape, num_keys] = solution;
  DLeftForecast forecast;
  forecast.load = load_of(shape, num_keys, 0);
  forecast.carried_load = carried_after(shape, request, num_keys, 0).carried_load;
  forecast.lifetime_operations = operations_of(request, num_keys);
  forecast.expected_spills = expected_spills(shape, request, num_keys);
  forecast.has_fast_loops = has_vector_loops(shape);
  DLeftShape size = shape;
  for (std::uint32_t s = 0; s <= request.max_doublings; ++s) {
    size.num_doublings = s;
    const std::uint64_t keys = after_doublings(num_keys, s);
    forecast.sizes.push_back({s, keys, num_bytes(size), std::exp(ln_dleft_rate(shape, keys))});
    // Only at its largest size is it full: before that it doubles.
    forecast.failure_probability = carried_after(shape, request, num_keys, s).failure_probability;
  }
  return forecast;
}

}  // namespace tally::planner_detail

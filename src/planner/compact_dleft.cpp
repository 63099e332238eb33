#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "detail/text_of.hpp"
#include "planner/compact_search.hpp"
#include "planner/dleft_requirements.hpp"
#include "planner/dleft_search.hpp"
#include "planner/dleft_spills.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally::planner_detail {
namespace {

/// The most keys within the planned load, whatever the rate.
std::uint64_t keys_within_load(const CompactDLeftShape& shape) {
  return static_cast<std::uint64_t>(planned_compact_load(shape.remainder_bits) *
                                    static_cast<double>(shape.num_cells()));
}

CompactDLeftShape shape_of(std::uint32_t remainder_bits, std::uint64_t num_lines) {
  return {.num_lines_per_subtable = num_lines, .remainder_bits = remainder_bits, .spill_capacity = 0};
}

/// Nothing if even the most lines do not meet the rate.
std::optional<CompactDLeftShape> least_memory(const Requirements& requirements, std::uint32_t remainder_bits,
                                              std::uint64_t num_keys, double ln_rate) {
  const auto num_lines = first_good(1, max_num_buckets, [&](std::uint64_t lines) {
    const CompactDLeftShape shape = shape_of(remainder_bits, lines);
    return num_keys <= keys_within_load(shape) && ln_compact_rate(shape, num_keys) <= ln_rate;
  });
  if (!num_lines) return std::nullopt;
  CompactDLeftShape shape = shape_of(remainder_bits, *num_lines);
  const std::uint64_t needed = std::max<std::uint64_t>(1, spills_needed(shape, requirements, num_keys));
  shape.spill_capacity = capacity_of(SpillTable::num_slots(needed));
  return shape;
}

/// As many lines as fit beside a side table that is large enough; nothing if the keys do not fit.
std::optional<CompactDLeftShape> most_lines(const Requirements& requirements, std::uint32_t remainder_bits,
                                            std::uint64_t num_keys, std::uint64_t memory_bytes) {
  const std::uint64_t bytes_per_bucket = 2 * std::uint64_t{compact_line_bytes};
  for (std::uint64_t num_slots = SpillTable::num_slots(1); 16 * num_slots < memory_bytes; num_slots *= 2) {
    const std::uint64_t num_lines =
        std::min((memory_bytes - 16 * num_slots) / bytes_per_bucket, max_num_buckets);
    if (num_lines == 0) return std::nullopt;
    CompactDLeftShape shape = shape_of(remainder_bits, num_lines);
    if (num_keys > keys_within_load(shape)) return std::nullopt;
    shape.spill_capacity = capacity_of(num_slots);
    if (spills_needed(shape, requirements, num_keys) <= shape.spill_capacity) return shape;
  }
  return std::nullopt;
}

/// The best solution over all remainders; nothing if none fits.
template <class Solve, class IsBetter>
std::optional<CompactSolution> best_of(Solve solve, IsBetter is_better) {
  std::optional<CompactSolution> best;
  for (std::uint32_t bits = least_compact_remainder_bits; bits <= max_compact_remainder_bits; ++bits) {
    const std::optional<CompactSolution> found = solve(bits);
    if (found && (!best || is_better(*found, *best))) best = found;
  }
  return best;
}

std::optional<CompactSolution> of_keys_and_rate(const Requirements& requirements, std::uint64_t num_keys,
                                                double ln_rate) {
  const auto solve = [&](std::uint32_t bits) -> std::optional<CompactSolution> {
    const auto shape = least_memory(requirements, bits, num_keys, ln_rate);
    return shape ? std::optional(CompactSolution{*shape, num_keys}) : std::nullopt;
  };
  return best_of(solve, [](const CompactSolution& a, const CompactSolution& b) {
    return num_bytes(a.shape) < num_bytes(b.shape);
  });
}

std::optional<CompactSolution> of_keys_and_memory(const Requirements& requirements, std::uint64_t num_keys,
                                                  std::uint64_t memory_bytes) {
  const auto solve = [&](std::uint32_t bits) -> std::optional<CompactSolution> {
    const auto shape = most_lines(requirements, bits, num_keys, memory_bytes);
    return shape ? std::optional(CompactSolution{*shape, num_keys}) : std::nullopt;
  };
  return best_of(solve, [](const CompactSolution& a, const CompactSolution& b) {
    return ln_compact_rate(a.shape, a.num_keys) < ln_compact_rate(b.shape, b.num_keys);
  });
}

std::optional<CompactSolution> of_memory_and_rate(const Requirements& requirements,
                                                  std::uint64_t memory_bytes, double ln_rate) {
  const auto solve = [&](std::uint32_t bits) -> std::optional<CompactSolution> {
    const auto is_too_many = [&](std::uint64_t keys) {
      if (keys > max_dleft_keys) return true;
      const auto shape = least_memory(requirements, bits, keys, ln_rate);
      return !shape || num_bytes(*shape) > memory_bytes;
    };
    const std::uint64_t num_keys = first_good(1, max_dleft_keys + 1, is_too_many).value() - 1;
    if (num_keys == 0) return std::nullopt;
    return CompactSolution{*least_memory(requirements, bits, num_keys, ln_rate), num_keys};
  };
  return best_of(solve,
                 [](const CompactSolution& a, const CompactSolution& b) { return a.num_keys > b.num_keys; });
}

[[noreturn]] void throw_rate_too_low(std::string_view structure, double rate, std::uint64_t num_keys) {
  const double least =
      std::exp(ln_compact_rate(shape_of(max_compact_remainder_bits, max_num_buckets), num_keys));
  detail::throw_parameter_error(structure, "false_positive_rate", rate,
                                "at least " + detail::text_of(least) + " for " + std::to_string(num_keys) +
                                    (num_keys == 1 ? " key" : " keys"));
}

}  // namespace

double ln_compact_rate(const CompactDLeftShape& shape, std::uint64_t num_keys) {
  return theory::ln_dleft_false_positive_probability(shape.num_lines_per_subtable,
                                                     shape.fingerprints_per_line(), num_keys);
}

CompactSolution solve_compact(std::string_view structure, const Requirements& requirements) {
  const Wanted wanted = check_wanted(structure, requirements);
  if (requirements.keys_repeat) {
    throw std::invalid_argument(
        std::string(structure) +
        ": keys_repeat is true; a compact filter is planned for keys that are in it once at a time, because "
        "each of up to 3 times takes a cell: set keys_repeat to false, or plan a d-left filter");
  }
  require_failure_probability(structure, requirements);
  detail::require_in_range(structure, "num_frequent_keys", frequent_keys_of(requirements), 0,
                           max_frequent_keys);
  if (wanted.num_keys) require_count(structure, "num_keys", *wanted.num_keys, 1, max_dleft_keys);
  const auto found =
      wanted.memory_bytes
          ? (wanted.num_keys ? of_keys_and_memory(requirements, *wanted.num_keys, *wanted.memory_bytes)
                             : of_memory_and_rate(requirements, *wanted.memory_bytes, *wanted.ln_rate))
          : of_keys_and_rate(requirements, *wanted.num_keys, *wanted.ln_rate);
  if (found) return *found;
  const auto smallest =
      of_keys_and_rate(requirements, wanted.num_keys.value_or(1), wanted.ln_rate.value_or(std::log(0.5)));
  if (!smallest)
    throw_rate_too_low(structure, *requirements.false_positive_rate, wanted.num_keys.value_or(1));
  const std::uint64_t least = num_bytes(smallest->shape);
  detail::throw_parameter_error(structure, "memory_bytes", *wanted.memory_bytes,
                                "at least " + std::to_string(least) + " for " +
                                    std::to_string(wanted.num_keys.value_or(1)) +
                                    (wanted.num_keys.value_or(1) == 1 ? " key" : " keys"));
}

}  // namespace tally::planner_detail

namespace tally {

using namespace planner_detail;

CompactDLeftShape plan_compact_dleft(const Requirements& requirements) {
  return solve_compact("plan_compact_dleft", requirements).shape;
}

std::uint64_t planned_num_keys(const CompactDLeftShape& shape, double false_positive_rate) {
  check_shape(shape);
  detail::require_probability("planned_num_keys", "false_positive_rate", false_positive_rate);
  const double ln_target = std::log(false_positive_rate);
  const std::uint64_t most = keys_within_load(shape);
  const auto is_too_many = [&](std::uint64_t num_keys) {
    return num_keys > most || ln_compact_rate(shape, num_keys) > ln_target;
  };
  return first_good(1, most + 1, is_too_many).value() - 1;
}

}  // namespace tally

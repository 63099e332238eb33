#include "planner/dleft_spills.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "planner/dleft_requirements.hpp"
#include "planner/search.hpp"
#include "tally/detail/compact/kernels.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/theory/dleft_spills.hpp"
#include "tally/theory/insertion_histogram.hpp"
#include "tally/theory/tails.hpp"

namespace tally::planner_detail {
namespace {

/// If nothing is known about the counts, there are at least this many entries beyond six standard deviations, for keys that are
/// in the filter more than dleft_common_key_count times.
constexpr double spare_spills = 64;
constexpr double most_expected_spills = 0x1p50;

std::uint64_t largest_count(const DLeftShape& shape) { return std::uint64_t{1} << shape.counter_bits; }

bool is_repetition_unknown(const Requirements& requirements) {
  return requirements.keys_repeat && !requirements.histogram && !requirements.num_insertions &&
         !requirements.num_frequent_keys;
}

/// Of keys that are in the filter `times_each` times at once.
double expected_of_equal_keys(const DLeftShape& shape, double keys_each, std::uint64_t times_each) {
  const std::uint64_t keys_past_a_cell = largest_count(shape) / times_each + 1;
  return shape.fingerprint_space().num_fingerprints() *
         std::exp(theory::ln_poisson_upper_tail(keys_past_a_cell, keys_each));
}

/// The value of the formula for a histogram of the first size. Twice the number of keys have the effect of half the number
/// of fingerprints, of which there are twice as many then.
template <class Formula>
double by_histogram(const DLeftShape& shape, const Requirements& requirements,
                    const theory::CountHistogram& histogram, Formula formula) {
  const std::uint32_t num_doublings = doublings_of(requirements);
  std::uint64_t largest = largest_count(shape);
  if (histogram.keys_beyond > 0)
    largest = std::min<std::uint64_t>(largest, histogram.keys_with_count.size() - 1);
  const auto num_fingerprints = static_cast<std::uint64_t>(
      std::ldexp(shape.fingerprint_space().num_fingerprints(), -static_cast<int>(num_doublings)));
  return std::ldexp(formula(histogram, std::max<std::uint64_t>(1, num_fingerprints), 1, largest),
                    static_cast<int>(num_doublings));
}

/// Without the frequent keys.
template <class Formula>
double expected_by(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys,
                   Formula formula) {
  if (requirements.histogram) return by_histogram(shape, requirements, *requirements.histogram, formula);
  // As in dleft_expected_spills: a Poisson number of this mean is never below the binomial one.
  const double num_fingerprints = shape.fingerprint_space().num_fingerprints();
  const double keys_each = std::ldexp(static_cast<double>(num_keys), doublings_of(requirements)) *
                           -std::log1p(-1 / std::max(2.0, num_fingerprints));
  if (!requirements.keys_repeat) return expected_of_equal_keys(shape, keys_each, 1);
  if (!requirements.num_insertions) return expected_of_equal_keys(shape, keys_each, dleft_common_key_count);
  // "About equally often": as insertions of keys at random, or exactly.
  const std::uint64_t num_insertions = std::max(num_keys, *requirements.num_insertions);
  const theory::CountHistogram histogram =
      theory::insertion_count_histogram(num_keys, num_insertions, largest_count(shape) + 1);
  const std::uint64_t times_each = (num_insertions - 1) / num_keys + 1;
  return std::max(by_histogram(shape, requirements, histogram, formula),
                  expected_of_equal_keys(shape, keys_each, times_each));
}

/// An upper bound that falls as buckets are added.
double expected_bound(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys) {
  return std::min(most_expected_spills,
                  expected_by(shape, requirements, num_keys, theory::dleft_expected_spills_bound));
}

std::uint64_t life_of(const Requirements& requirements, std::uint64_t num_keys) {
  return operations_of(requirements, after_doublings(num_keys, doublings_of(requirements)));
}

}  // namespace

double expected_spills(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys) {
  return static_cast<double>(frequent_keys_of(requirements)) +
         expected_by(shape, requirements, num_keys, theory::dleft_expected_spills);
}

std::uint64_t spills_needed(const DLeftShape& shape, const Requirements& requirements,
                            std::uint64_t num_keys) {
  const double expected = expected_bound(shape, requirements, num_keys);
  const std::uint64_t needed = theory::dleft_spill_capacity(expected, life_of(requirements, num_keys),
                                                            side_table_share * failure_of(requirements));
  if (!is_repetition_unknown(requirements)) return frequent_keys_of(requirements) + needed;
  return std::max(needed,
                  static_cast<std::uint64_t>(std::ceil(expected + 6 * std::sqrt(expected)) + spare_spills));
}

double side_table_failure(const DLeftShape& shape, const Requirements& requirements, std::uint64_t num_keys) {
  const std::uint64_t num_frequent = frequent_keys_of(requirements);
  if (num_frequent > shape.spill_capacity) return 1;
  return theory::dleft_spills_tail(expected_bound(shape, requirements, num_keys),
                                   shape.spill_capacity - num_frequent, life_of(requirements, num_keys));
}

std::uint64_t spills_needed(const CompactDLeftShape& shape, const Requirements& requirements,
                            std::uint64_t num_keys) {
  const double num_fingerprints = shape.num_fingerprints();
  const double keys_each = -static_cast<double>(num_keys) * std::log1p(-1 / num_fingerprints);
  const double expected =
      num_fingerprints * std::exp(theory::ln_poisson_upper_tail(detail::max_compact_copies + 1, keys_each));
  return frequent_keys_of(requirements) +
         theory::dleft_spill_capacity(std::min(expected, most_expected_spills),
                                      operations_of(requirements, num_keys), failure_of(requirements));
}

void require_failure_probability(std::string_view structure, const Requirements& requirements) {
  detail::require_in_range(structure, "failure_probability", failure_of(requirements), 1e-15, 0.5);
}

void require_insertions(std::string_view structure, const Requirements& requirements) {
  if (!requirements.num_insertions) return;
  if (requirements.histogram || !requirements.num_keys) {
    throw std::invalid_argument(std::string(structure) + ": num_insertions is given " +
                                (requirements.histogram
                                     ? "beside a histogram; leave it out: the histogram contains it"
                                     : "without num_keys; give num_keys, or leave num_insertions out"));
  }
  require_count(structure, "num_insertions", *requirements.num_insertions, *requirements.num_keys,
                max_num_positions);
}

std::uint64_t capacity_of(std::uint64_t num_slots) {
  std::uint64_t capacity = num_slots * 2 / 3;
  while (SpillTable::num_slots(capacity) > num_slots) --capacity;
  return capacity;
}

}  // namespace tally::planner_detail

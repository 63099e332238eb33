#include "planner/saturation.hpp"

#include <algorithm>
#include <cmath>

#include "planner/count_laws.hpp"
#include "planner/dleft_requirements.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/counter_saturation.hpp"
#include "tally/theory/insertion_histogram.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::uint64_t max_counter_value = std::uint64_t{1} << 40;  // counter_saturation.hpp

/// The maximum of a counter, or the largest value that the histogram tells, which is reached at least as often.
std::uint64_t told_maximum(const theory::CountHistogram& histogram, std::uint64_t full) {
  if (histogram.keys_beyond > 0) full = std::min<std::uint64_t>(full, histogram.keys_with_count.size());
  return std::min(full, max_histogram_count);
}

/// Calls by_histogram(histogram, maximum) if keys repeat, else by_keys(maximum).
template <class ByHistogram, class ByKeys>
double by_counts(const Keys& keys, std::uint64_t num_keys, std::uint64_t full, ByHistogram by_histogram,
                 ByKeys by_keys) {
  full = std::min(full, max_counter_value);
  if (keys.histogram != nullptr) return by_histogram(*keys.histogram, told_maximum(*keys.histogram, full));
  const std::uint64_t num_insertions = std::max(num_keys, keys.num_insertions.value_or(0));
  if (num_insertions == num_keys) return by_keys(full);
  if (full > max_histogram_count) {
    // As if every key were inserted as often as the most frequent one.
    const double mean = static_cast<double>(num_insertions) / static_cast<double>(num_keys);
    const auto most = static_cast<std::uint64_t>(mean + 12 * std::sqrt(mean) + 12);
    return by_keys((full - 1) / most + 1);
  }
  const theory::CountHistogram histogram = theory::insertion_count_histogram(num_keys, num_insertions, full);
  return by_histogram(histogram, full);
}

}  // namespace

double raised_by_saturation(double ln_rate, std::uint32_t k, double share) noexcept {
  if (share == 0.0 || ln_rate == 0.0) return ln_rate;
  return std::min(0.0, ln_rate + k * std::log1p(share * std::expm1(-ln_rate / k)));  // (p + share (1 - p))^k
}

bool knows_counts_up_to(const Keys& keys, std::uint64_t count) {
  if (keys.histogram != nullptr) return told_maximum(*keys.histogram, count) == count;
  return keys.num_insertions.has_value();
}

double expected_saturated(const Keys& keys, std::uint64_t num_keys, const CountingBloomShape& shape,
                          std::uint64_t full, std::uint64_t num_replacements) {
  const std::uint64_t m = shape.num_counters;
  const std::uint32_t k = shape.num_hashes;
  return by_counts(
      keys, num_keys, full,
      [&](const theory::CountHistogram& histogram, std::uint64_t maximum) {
        return theory::compound_expected_saturated_counters(histogram, k, m, maximum, num_replacements);
      },
      [&](std::uint64_t maximum) {
        return theory::expected_saturated_counters(m, k, num_keys, maximum, num_replacements);
      });
}

double expected_saturated_in_lines(const Keys& keys, std::uint64_t num_keys, const CountingBloomShape& shape,
                                   std::uint64_t full, std::uint64_t num_replacements) {
  const std::uint32_t B = CounterArray::positions_per_line(shape.counter_bits);
  const std::uint64_t num_lines = shape.num_counters / B;
  const std::uint32_t k = shape.num_hashes;
  return by_counts(
      keys, num_keys, full,
      [&](const theory::CountHistogram& histogram, std::uint64_t maximum) {
        return theory::blocked_compound_expected_saturated_counters(histogram, num_lines, B, k, maximum,
                                                                    num_replacements);
      },
      [&](std::uint64_t maximum) {
        return theory::blocked_expected_saturated_counters(num_lines, B, k, num_keys, maximum,
                                                           num_replacements);
      });
}

void add_saturation(Candidate& candidate, double expected, std::uint64_t num_replacements) {
  candidate.expected_saturated_counters = expected;
  candidate.saturation_probability = std::min(1.0, expected);
  if (num_replacements == 0) return;
  const double share = std::min(1.0, expected / static_cast<double>(candidate.shape.num_positions()));
  const std::uint32_t k = candidate.shape.num_hashes();
  for (PredictedError& error : candidate.errors) {
    error.ln_false_positive_rate = raised_by_saturation(error.ln_false_positive_rate, k, share);
    error.false_positive_rate = std::exp(error.ln_false_positive_rate);
  }
  candidate.false_positive_rate = candidate.errors.back().false_positive_rate;
}

}  // namespace tally::planner_detail

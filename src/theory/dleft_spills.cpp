#include "tally/theory/dleft_spills.hpp"

#include <algorithm>
#include <cmath>

#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::infinity;

/// The keys that a fingerprint may have, by count up to `largest`; those above are in keys_beyond.
CountHistogram up_to(const CountHistogram& histogram, std::uint64_t largest) {
  CountHistogram result;
  result.keys_with_count.assign(largest + 1, 0.0);
  result.keys_beyond = histogram.keys_beyond;
  for (std::size_t c = 1; c < histogram.keys_with_count.size(); ++c) {
    const double num_keys = histogram.keys_with_count[c];
    (c <= largest ? result.keys_with_count[c] : result.keys_beyond) += num_keys;
  }
  return result;
}

double num_spilled_values(const char* function, const CountHistogram& histogram, std::uint64_t B,
                          std::uint64_t R, std::uint64_t largest) {
  detail::require_at_least_1(function, "B", B);
  detail::require_at_least_1(function, "R", R);
  const double values = static_cast<double>(B) * static_cast<double>(R);
  detail::require(values <= 0x1p63, function, "B R", values, "at most 2^63");
  detail::require(largest >= 1 && largest <= 9999, function, "largest", largest, "1 to 9999");
  detail::require(histogram.keys_beyond == 0.0 || largest < histogram.keys_with_count.size(), function,
                  "largest", largest, "below the histogram's size, since keys lie beyond it");
  return values;
}

/// Pr(S > largest) times the number of values.
double expected_above(CountHistogram keys, double values, std::uint64_t largest) {
  if (values == 1.0) {
    // All keys have the one value.
    double sum = keys.keys_beyond > 0 ? infinity : 0.0;
    for (std::size_t c = 1; c < keys.keys_with_count.size(); ++c)
      sum += static_cast<double>(c) * keys.keys_with_count[c];
    return sum > static_cast<double>(largest) ? 1.0 : 0.0;
  }
  const double per_mean = -values * std::log1p(-1.0 / values);
  for (double& num_keys : keys.keys_with_count) num_keys *= per_mean;
  keys.keys_beyond *= per_mean;
  const auto m = static_cast<std::uint64_t>(values);
  return values * std::exp(ln_counter_upper_tail(keys, 1, m, largest + 1));
}

/// ln of Chernoff's bound on Pr(X >= x), X the sum of negatively associated indicators with this mean.
double ln_chernoff(double x, double mean) {
  if (x <= mean) return 0.0;
  if (mean == 0.0) return -infinity;
  return x - mean - x * std::log(x / mean);
}

void require_expected_spills(const char* function, double expected) {
  detail::require(expected >= 0.0 && expected <= 0x1p53, function, "expected", expected, "0 to 2^53");
}

}  // namespace

double dleft_expected_spills(const CountHistogram& histogram, std::uint64_t B, std::uint64_t R,
                             std::uint64_t largest) {
  const double values = num_spilled_values("dleft_expected_spills", histogram, B, R, largest);
  return expected_above(up_to(histogram, largest), values, largest);
}

double dleft_expected_spills_bound(const CountHistogram& histogram, std::uint64_t B, std::uint64_t R,
                                   std::uint64_t largest) {
  const double values = num_spilled_values("dleft_expected_spills_bound", histogram, B, R, largest);
  CountHistogram keys = up_to(histogram, largest);
  const double alone = keys.keys_beyond;
  keys.keys_beyond = 0.0;
  return alone + expected_above(std::move(keys), values, largest);
}

double ln_dleft_spills_tail(double expected, std::uint64_t capacity, std::uint64_t N) {
  require_expected_spills("dleft_spills_tail", expected);
  const double ln_states = std::log1p(static_cast<double>(N));
  return std::min(0.0, ln_states + ln_chernoff(static_cast<double>(capacity) + 1.0, expected));
}

double dleft_spills_tail(double expected, std::uint64_t capacity, std::uint64_t N) {
  return std::exp(ln_dleft_spills_tail(expected, capacity, N));
}

std::uint64_t dleft_spill_capacity(double expected, std::uint64_t N, double failure_probability) {
  constexpr const char* function = "dleft_spill_capacity";
  require_expected_spills(function, expected);
  detail::require_open_unit(function, "failure_probability", failure_probability);
  const double ln_failure = std::log(failure_probability);
  const auto is_enough = [&](std::uint64_t capacity) {
    return ln_dleft_spills_tail(expected, capacity, N) <= ln_failure;
  };
  std::uint64_t low = static_cast<std::uint64_t>(expected);
  if (low == 0 && is_enough(0)) return 0;
  std::uint64_t step = 1;
  while (!is_enough(low + step)) step *= 2;
  std::uint64_t high = low + step;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

double dleft_expected_most_spills(double expected, std::uint64_t N) {
  require_expected_spills("dleft_expected_most_spills", expected);
  const double ln_states = std::log1p(static_cast<double>(N));
  if (expected == 0.0 || ln_states == 0.0) return expected;
  double low = expected;
  double high = expected + 1.0;
  while (-ln_chernoff(high, expected) < ln_states) high += high - expected;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (-ln_chernoff(middle, expected) < ln_states ? low : high) = middle;
  }
  return high;
}

}  // namespace tally::theory

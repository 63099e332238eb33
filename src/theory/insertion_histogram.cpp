#include "tally/theory/insertion_histogram.hpp"

#include <algorithm>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

/// The a with a / (1 - exp(-a)) = mean, for a mean above 1.
double untruncated_mean(double mean) {
  double low = 0.0;
  double high = mean;
  for (int step = 0; step < 200 && high - low > 1e-16 * high; ++step) {
    const double middle = 0.5 * (low + high);
    (middle / -std::expm1(-middle) < mean ? low : high) = middle;
  }
  return high;
}

}  // namespace

CountHistogram insertion_count_histogram(std::uint64_t num_keys, std::uint64_t num_insertions,
                                         std::uint64_t limit) {
  constexpr const char* function = "insertion_count_histogram";
  detail::require_at_least_1(function, "num_keys", num_keys);
  detail::require(num_insertions >= num_keys, function, "num_insertions", num_insertions,
                  "at least num_keys");
  CountHistogram histogram = make_count_histogram({}, limit);
  const auto keys = static_cast<double>(num_keys);
  const auto insertions = static_cast<double>(num_insertions);
  if (num_insertions == num_keys) return make_count_histogram({{1, keys}}, limit);
  const double a = untruncated_mean(insertions / keys);
  const double scale = keys / -std::expm1(-a);
  double sum = 0.0;
  for (std::uint64_t c = 1; c < limit; ++c) {
    histogram.keys_with_count[c] = scale * std::exp(ln_poisson_point(c, a));
    sum += static_cast<double>(c) * histogram.keys_with_count[c];
  }
  histogram.keys_beyond = scale * std::exp(ln_poisson_upper_tail(limit, a));
  histogram.insertions_beyond =
      std::max(insertions - sum, histogram.keys_beyond * static_cast<double>(limit));
  return histogram;
}

}  // namespace tally::theory

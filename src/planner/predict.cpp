#include "planner/predict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "planner/count_laws.hpp"
#include "tally/theory/kappa_star.hpp"
#include "tally/theory/tails.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::uint64_t list_all_up_to = 32;

std::vector<std::uint64_t> listed_true_counts(std::uint64_t theta) {
  std::vector<std::uint64_t> counts;
  if (theta <= list_all_up_to) {
    for (std::uint64_t t = 0; t < theta; ++t) counts.push_back(t);
  } else {
    counts = {0, theta / 4, theta / 2, theta - theta / 4, theta - 4, theta - 3, theta - 2, theta - 1};
  }
  return counts;
}

double percent_above(double value, double reference) { return std::max(0.0, (value / reference - 1) * 100); }
double percent_above_ln(double value, double reference) {
  return std::max(0.0, std::expm1(value - reference) * 100);
}

/// The mean kappa of the counters at which the false positive rate is ln_rate: ln P(gap, kappa) = ln_rate / k.
double load_at(std::uint64_t gap, std::uint32_t k, double ln_rate) {
  double low = -80;  // ln kappa
  double high = std::log(static_cast<double>(gap)) + 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (theory::ln_poisson_upper_tail(gap, std::exp(middle)) * k <= ln_rate ? low : high) = middle;
  }
  return std::exp(low);
}

}  // namespace

double ln_error(const Law& scheme, const Keys& keys, std::uint64_t num_keys, std::uint64_t m, std::uint32_t k,
                std::uint64_t gap, std::uint64_t true_count) {
  const double bound = scheme.ln_promised_rate(m, k, num_keys);
  if (gap == 1 || keys.error_law() == ErrorLaw::bound) return bound;
  const Law law = keys.histogram != nullptr
                      ? histogram_law(scheme, gap, true_count, *keys.histogram)
                      : insertions_law(scheme, gap, true_count, num_keys, *keys.num_insertions);
  return std::min(bound, law.ln_rate(m, k, keys.num_insertions.value_or(num_keys)));
}

std::vector<PredictedError> predict_errors(const Law& scheme, const Keys& keys, std::uint64_t num_keys,
                                           std::uint64_t m, std::uint32_t k, std::uint64_t theta) {
  std::vector<PredictedError> errors;
  for (const std::uint64_t t : listed_true_counts(theta)) {
    const double ln_rate = ln_error(scheme, keys, num_keys, m, k, theta - t, t);
    errors.push_back({t, std::exp(ln_rate), ln_rate});
  }
  return errors;
}

CacheLines expected_lines(bool one_line, std::uint64_t m, std::uint32_t k, std::uint32_t positions_per_line,
                          double ln_rate_absent) {
  if (one_line) return {1, 1, 1};
  const double num_lines = std::ceil(static_cast<double>(m) / positions_per_line);
  const auto lines = [&](double num_positions) {
    return num_lines <= 1 ? 1.0 : -num_lines * std::expm1(num_positions * std::log1p(-1 / num_lines));
  };
  const double pass = std::exp(ln_rate_absent / k);
  double absent = 0;
  double reached = 1;  // Pr(the lookup reads the j-th position)
  for (std::uint32_t j = 1; j <= k; ++j) {
    absent += reached * (j < k ? 1 - pass : 1) * lines(j);
    reached *= pass;
  }
  return {lines(k), absent, lines(k)};
}

CacheLines bucket_lines(const DLeftShape& shape) {
  constexpr std::uint64_t line_bits = 512;
  const std::uint64_t bucket_bits = std::uint64_t{shape.cells_per_bucket} * shape.cell_bits();
  // The offset of a bucket in its cache line repeats after this many buckets.
  const std::uint64_t period = line_bits / std::gcd(line_bits, bucket_bits);
  double lines = 0;
  for (std::uint64_t first = 0; first < period * bucket_bits; first += bucket_bits) {
    lines += static_cast<double>((first + bucket_bits - 1) / line_bits - first / line_bits + 1);
  }
  lines *= shape.num_subtables / static_cast<double>(period);
  return {lines, lines, lines};
}

RoundingCost rounding_cost(const Wanted& wanted, const Candidate& candidate, std::uint64_t n,
                           std::uint64_t gap) {
  const auto keys = static_cast<double>(n);
  const FilterShape& shape = candidate.shape;
  const double k = shape.num_hashes();
  RoundingCost cost;
  cost.is_of_memory = wanted.ln_rate.has_value();
  if (cost.is_of_memory) {
    const double best = keys * *wanted.ln_rate / theory::ln_c(gap);
    const double whole_k = k * keys / load_at(gap, shape.num_hashes(), *wanted.ln_rate);
    const double taken = 8.0 * static_cast<double>(shape.num_bytes()) / shape.counter_bits();
    cost.whole_hashes_percent = percent_above(whole_k, best);
    cost.whole_words_percent = percent_above(taken, whole_k);
  } else {
    const double m = 8.0 * static_cast<double>(*wanted.memory_bytes) / shape.counter_bits();
    const double best = theory::ln_c(gap) * m / keys;
    const double whole_k = k * theory::ln_poisson_upper_tail(gap, k * keys / m);
    const auto taken_m = static_cast<double>(shape.num_positions());
    const double taken = k * theory::ln_poisson_upper_tail(gap, k * keys / taken_m);
    cost.whole_hashes_percent = percent_above_ln(whole_k, best);
    cost.whole_words_percent = percent_above_ln(taken, whole_k);
  }
  return cost;
}

double exact_table_bytes(std::uint64_t num_keys, bool with_counts) {
  constexpr double digest_bytes = 16;
  constexpr double count_bytes = 4;
  constexpr double load = 0.75;
  return static_cast<double>(num_keys) * (digest_bytes + (with_counts ? count_bytes : 0)) / load;
}

}  // namespace tally::planner_detail

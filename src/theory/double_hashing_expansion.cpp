#include "tally/theory/double_hashing_expansion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tally/theory/bloom.hpp"
#include "tally/theory/coinciding_positions.hpp"
#include "theory/coinciding_weights.hpp"
#include "theory/detail.hpp"
#include "theory/double_hashing_positions.hpp"

namespace tally::theory {
namespace {

/// The number of pairs (i, j) below k from which i runs in steps of a and j in steps of b for s points or more.
double runs(std::uint64_t k, std::uint64_t s, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t long_a = (s - 1) * a;
  const std::uint64_t long_b = (s - 1) * b;
  return long_a >= k || long_b >= k ? 0.0 : static_cast<double>(k - long_a) * static_cast<double>(k - long_b);
}

/// N_s: how many keys, as pairs of hash values, share a set of just s of the query's positions, for s = 3 to k. As many keys
/// share two as if positions were independent, but for those that are pairs in larger sets.
std::vector<double> shared_sets(DoubleHashing scheme, std::uint32_t k) {
  std::vector<double> number(k + 3);
  if (scheme == DoubleHashing::cubic) number[k] = 1;
  if (scheme == DoubleHashing::plain || scheme == DoubleHashing::quadratic) {
    const std::uint32_t most_steps = scheme == DoubleHashing::plain ? k : 1;
    std::vector<double> at_least(k + 3);
    for (std::uint32_t s = 3; s <= k; ++s)
      for (std::uint32_t a = 1; a <= most_steps && (s - 1) * a < k; ++a)
        for (std::uint32_t b = 1; b <= most_steps && (s - 1) * b < k; ++b)
          if (std::gcd(a, b) == 1) at_least[s] += 2 * runs(k, s, a, b);  // forwards and backwards
    for (std::uint32_t s = 3; s <= k; ++s) number[s] = at_least[s] - 2 * at_least[s + 1] + at_least[s + 2];
  }
  return number;
}

/// By how much keys that share several positions with a query raise its rate, divided by p^k.
double shared_positions(DoubleHashing scheme, double m, std::uint32_t k, double n, double p) {
  if (scheme == DoubleHashing::triple || k < 3) return 0.0;
  const double odds = (1 - p) / p;
  std::vector<double> mean = shared_sets(scheme, k);
  double num_sets = 0.0;
  double singly = 0.0;  // what independent positions have of this: hit one by one, and pairs by one key
  for (std::uint32_t s = 3; s <= k; ++s) {
    mean[s] *= n / (m * m);
    num_sets += mean[s];
    singly += mean[s] * (s * odds + 0.5 * s * (s - 1.0) * odds * odds);
  }
  // The sum of the sizes of all shared sets, by Panjer's recursion; no more than k of it counts.
  std::vector<double> share(4 * k + 1);
  share[0] = std::exp(-num_sets);
  double sum = std::expm1(-num_sets);
  for (std::uint32_t u = 1; u < share.size(); ++u) {
    for (std::uint32_t s = 3; s <= std::min(u, k); ++s) share[u] += s * mean[s] * share[u - s];
    share[u] /= u;
    sum += share[u] * std::pow(p, -1.0 * std::min(u, k));
  }
  return std::max(0.0, sum - singly);
}

double totient(std::uint64_t r) {
  std::uint64_t number = 0;
  for (std::uint64_t i = 1; i <= r; ++i) number += std::gcd(i, r) == 1;
  return static_cast<double>(number);
}

double power(double base, std::uint32_t exponent) { return std::pow(base, static_cast<double>(exponent)); }

/// The mean over all hash values but h1, which shifts positions.
double counted_mean(DoubleHashing scheme, std::uint64_t m, std::uint32_t k, std::span<const double> w) {
  std::vector<std::uint32_t> num_hits(m);
  std::vector<std::uint64_t> positions(k);
  const std::uint64_t num_h3 = scheme == DoubleHashing::triple ? m : 1;
  double sum = 0.0;
  for (std::uint64_t h2 = 0; h2 < m; ++h2) {
    for (std::uint64_t h3 = 0; h3 < num_h3; ++h3) {
      for (std::uint64_t i = 0; i < k; ++i) {
        positions[i] = detail::double_hashing_offset(scheme, i, h2, h3) % m;
        ++num_hits[positions[i]];
      }
      double product = 1.0;
      for (const std::uint64_t position : positions)
        if (const std::uint32_t hits = std::exchange(num_hits[position], 0); hits != 0)
          product *= detail::weight_of(w, hits);
      sum += product;
    }
  }
  return sum / static_cast<double>(m) / static_cast<double>(num_h3);
}

/// Indices i < j have one position if h2 has a value that depends on i and j only. With each of these values, which one of m
/// keys has, all pairs that it belongs to coincide.
double gain_by_values(DoubleHashing scheme, std::uint32_t k, std::span<const double> w, double ln_all) {
  std::map<std::uint64_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> pairs_of;
  for (std::uint32_t j = 1; j < k; ++j) {
    for (std::uint32_t i = 0; i < j; ++i) {
      const std::uint64_t value = scheme == DoubleHashing::cubic ? i * i + i * j + j * j : i + j;
      pairs_of[value].emplace_back(i, j);
    }
  }
  double gain = 0.0;
  for (const auto& [value, pairs] : pairs_of) {
    std::vector<std::uint32_t> first(k);  // index with the same position
    std::iota(first.begin(), first.end(), 0u);
    for (const auto& [i, j] : pairs) first[j] = first[i];
    std::vector<std::uint32_t> num_hits(k);
    for (const std::uint32_t index : first) ++num_hits[index];
    double product = 1.0;
    for (const std::uint32_t hits : num_hits)
      if (hits != 0) product *= detail::weight_of(w, hits);
    gain += product - std::exp(ln_all);
  }
  return gain;
}

/// In `triple`, those of m^2 pairs (h2, h3) that are multiples of m/r have r positions at most, for each divisor r of m. They are
/// counted one by one for r up to 32: with more positions they hardly matter. A few are counted by their values, too.
double gain_by_small_orders(std::uint64_t m, std::uint32_t k, std::span<const double> w, double ln_all) {
  constexpr std::uint64_t most_counted = 32;
  double gain = 0.0;
  for (std::uint64_t r = 1; r <= most_counted; ++r) {
    if (m % r != 0) continue;
    for (std::uint64_t h2 = 0; h2 < r; ++h2) {
      for (std::uint64_t h3 = 0; h3 < r; ++h3) {
        if (std::gcd(std::gcd(h2, h3), r) != 1) continue;  // counted for a smaller r
        std::array<std::uint32_t, most_counted> num_hits{};
        for (std::uint64_t i = 0; i < k; ++i)
          ++num_hits[detail::double_hashing_offset(DoubleHashing::triple, i, h2, h3) % r];
        double product = 1.0;
        for (const std::uint32_t hits : num_hits)
          if (hits != 0) product *= detail::weight_of(w, hits);
        gain += product - std::exp(ln_all);
      }
    }
  }
  return gain;
}

}  // namespace

double ln_double_hashing_false_positive_probability_expansion(DoubleHashing scheme, std::uint64_t m,
                                                              std::uint32_t k, std::uint64_t n) {
  constexpr const char* function = "ln_double_hashing_false_positive_probability_expansion";
  if (scheme == DoubleHashing::partition)
    detail::refuse(function, "scheme", "partition", "plain, quadratic, cubic or triple");
  detail::require_m_and_k(function, m, k);
  if (n == 0) return -std::numeric_limits<double>::infinity();
  if (m == 1) return 0.0;
  const auto size = static_cast<double>(m);
  const double p = -std::expm1(static_cast<double>(k) * static_cast<double>(n) * std::log1p(-1 / size));
  const double independent = ln_false_positive_probability_expansion(m, k, n);
  const double shared = shared_positions(scheme, size, k, static_cast<double>(n), p);
  const double ln_all = k * std::log(p);
  double repeated = -0.5 * k * (k - 1.0) / size * (1 / p - 1);  // what independent positions have of this
  if (ln_all > -700)
    repeated += double_hashing_gain_by_coinciding_positions(scheme, m, k, {&p, 1}) / std::exp(ln_all);
  return std::min(0.0, independent + std::log(std::max(1e-300, 1 + shared + repeated)));
}

double double_hashing_gain_by_shared_positions(DoubleHashing scheme, std::uint64_t m, std::uint32_t k,
                                               std::span<const double> numbers,
                                               std::span<const double> ratios) {
  constexpr const char* function = "double_hashing_gain_by_shared_positions";
  constexpr double largest_power = 1e300;
  detail::require_m_and_k(function, m, k);
  detail::require(numbers.size() == ratios.size(), function, "ratios.size()", std::uint64_t{ratios.size()},
                  "as many as numbers");
  for (const double number : numbers) detail::require(number >= 0, function, "numbers", number, "at least 0");
  for (const double ratio : ratios) detail::require(ratio >= 1, function, "ratios", ratio, "at least 1");
  const bool is_partition = scheme == DoubleHashing::partition;
  std::vector<double> sets = is_partition ? std::vector<double>(k + 3) : shared_sets(scheme, k);
  if (is_partition && k >= 2) sets[k] = 1;
  const double size = static_cast<double>(m) / (is_partition ? k : 1);
  double gain = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double more = ratios[i] - 1;
    for (std::uint32_t s = 2; s <= k; ++s) {
      if (sets[s] <= 0) continue;
      const double singly = 1 + s * more + (is_partition ? 0.0 : 0.5 * s * (s - 1.0) * more * more);
      const double together = std::min(largest_power, std::pow(ratios[i], s));
      gain += numbers[i] * sets[s] / (size * size) * std::max(0.0, together - singly);
    }
  }
  return gain;
}

double double_hashing_gain_by_coinciding_positions(DoubleHashing scheme, std::uint64_t m, std::uint32_t k,
                                                   std::span<const double> w) {
  detail::require_weights("double_hashing_gain_by_coinciding_positions", m, k, w);
  constexpr double most_steps = 0x1p16;
  const auto size = static_cast<double>(m);
  const double ln_all = k * std::log(w[0]);
  const double num_steps = k * size * (scheme == DoubleHashing::triple ? size : 1.0);
  if (scheme == DoubleHashing::partition || k == 1) return 0.0;
  if (scheme == DoubleHashing::plain) {  // at every m: those whose h2 has an order r below k
    double gain = 0.0;
    for (std::uint32_t r = 1; r < k; ++r) {
      if (m % r != 0) continue;
      const double product =
          power(detail::weight_of(w, k / r), r - k % r) * power(detail::weight_of(w, k / r + 1), k % r);
      gain += totient(r) / size * (product - std::exp(ln_all));
    }
    return gain;
  }
  if (num_steps <= most_steps) return counted_mean(scheme, m, k, w) - std::exp(ln_all);
  const double by_orders =
      scheme == DoubleHashing::triple ? gain_by_small_orders(m, k, w, ln_all) / size / size : 0.0;
  return gain_by_values(scheme, k, w, ln_all) / size + by_orders;
}

}  // namespace tally::theory

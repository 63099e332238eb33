#include "tally/theory/summary_cache.hpp"

#include <algorithm>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::require;

// The inverse of the golden ratio: u^2 + u = 1.
constexpr double golden_ratio_less_one = 0.61803398874989484820;
constexpr double ln_2 = 0.69314718055994530942;

void require_removed(const char* function, std::uint64_t n, std::uint64_t r) {
  require(r <= n, function, "r", r, "at most n");
}

void require_share(const char* function, double q) {
  require(q >= 0.0 && q <= 1.0, function, "q", q, "0 to 1");
}

/// 1 - exp(ln_z), not by subtraction, and not -0.
double one_minus(double ln_z) { return ln_z == 0.0 ? 0.0 : -std::expm1(ln_z); }

/// z(n - r) [z(r) (1 - z(a)) + z(a) (1 - z(r))], z given by its logarithm.
template <class LnEmpty>
double flipped(std::uint64_t n, std::uint64_t r, std::uint64_t a, LnEmpty ln_empty) {
  const double removed = ln_empty(r);
  const double added = ln_empty(a);
  return std::exp(ln_empty(n - r)) *
         (std::exp(removed) * one_minus(added) + std::exp(added) * one_minus(removed));
}

/// Vacated cells that are still empty.
double still_vacant(const char* function, std::uint64_t cells, std::uint64_t n, std::uint64_t r,
                    std::uint64_t a) {
  require_removed(function, n, r);
  require(n <= cells, function, "n", n, "at most the cells");
  require(a <= cells - (n - r), function, "a", a, "at most the cells that are empty after the removals");
  if (r == 0) return 0.0;
  const auto empty = static_cast<double>(cells - n);
  const auto removed = static_cast<double>(r);
  const auto added = static_cast<double>(a);
  const double growth = removed - added;
  if (empty == 0.0 || empty + growth == 0.0) return std::max(growth, 0.0);
  // added ln(1 + x)/x/empty with x = growth/empty; ln(1 + x)/x is 1 at x = 0.
  const double x = growth / empty;
  const double decay = added / empty * (growth == 0.0 ? 1.0 : std::log1p(x) / x);
  return std::clamp(growth - empty * std::expm1(-decay), 0.0, removed);
}

/// Moments of M = min(X, N) and Y = min(N, max(X - 1, 0)), X Poisson of mean x; N or x may be infinite, not both.
struct CycleMoments {
  double m;        ///< E[M]
  double m_pairs;  ///< E[M (M - 1)]
  double y_pairs;  ///< E[Y (Y + 1)]
};

CycleMoments cycle_moments(double N, double x) {
  if (x == never) return {N, N * (N - 1), N * (N + 1)};
  const double standard = std::sqrt(x) + 1;
  if (N > x + 40 * standard) return {x, x * x, x * x};
  if (N < x - 40 * standard) return {N, N * (N - 1), N * (N + 1)};
  const auto theta = static_cast<std::uint64_t>(N);
  const auto below = [&](std::uint64_t value) { return std::exp(ln_poisson_lower_tail(value, x)); };
  const auto before = [&](std::uint64_t steps) { return theta > steps ? theta - steps : 0; };
  const double reached = std::exp(ln_poisson_upper_tail(theta, x));
  return {x * below(before(1)) + N * reached, x * x * below(before(2)) + N * (N - 1) * reached,
          x * x * below(before(1)) + N * (N + 1) * std::exp(ln_poisson_upper_tail(theta + 1, x))};
}

void require_finite(const char* parameter, double value) {
  require(value >= 0.0 && value < never, "summary_staleness", parameter, value, "at least 0 and finite");
}

void require_limit(const char* parameter, double value) {
  require(value >= 0.0, "summary_staleness", parameter, value, "at least 0");
}

/// The number of new keys at which a message is sent, if no time limit is reached before.
double keys_to_send(const DirectoryChange& change, const SendLimits& limits) {
  const double by_share = std::ceil(limits.new_share * change.num_keys);
  double by_bytes = never;
  if (limits.max_bytes <= limits.header_bytes) {
    by_bytes = 1;
  } else if (limits.bytes_per_change > 0.0 && change.insertion_rate > 0.0) {
    const double per_key = limits.bytes_per_change * (1 + change.removal_rate / change.insertion_rate);
    by_bytes = std::ceil((limits.max_bytes - limits.header_bytes) / per_key);
  }
  return std::max(1.0, std::min(by_share, by_bytes));
}

}  // namespace

double flipped_share(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t r, std::uint64_t a) {
  detail::require_m_and_k("flipped_share", m, k);
  require_removed("flipped_share", n, r);
  return flipped(n, r, a, [&](std::uint64_t keys) { return detail::ln_empty(m, detail::product(k, keys)); });
}

double flipped_share_approximate(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t r,
                                 std::uint64_t a) {
  detail::require_m_and_k("flipped_share_approximate", m, k);
  require_removed("flipped_share_approximate", n, r);
  return flipped(n, r, a,
                 [&](std::uint64_t keys) { return -detail::product(k, keys) / static_cast<double>(m); });
}

double binary_entropy(double q) {
  require_share("binary_entropy", q);
  if (q == 0.0 || q == 1.0) return 0.0;
  return -(q * std::log(q) + (1.0 - q) * std::log1p(-q)) / ln_2;
}

double least_delta_bits(std::uint64_t m, double q) {
  detail::require_at_least_1("least_delta_bits", "m", m);
  require_share("least_delta_bits", q);
  return static_cast<double>(m) * binary_entropy(q);
}

double rice_bits_per_position(double q, std::uint32_t b) {
  require(q > 0.0 && q <= 1.0, "rice_bits_per_position", "q", q, "above 0 and at most 1");
  require(b <= 63, "rice_bits_per_position", "b", b, "0 to 63");
  return b + 1.0 / -std::expm1(std::ldexp(std::log1p(-q), static_cast<int>(b)));
}

std::uint32_t best_rice_parameter(double q) {
  require(q > 0.0 && q <= 1.0, "best_rice_parameter", "q", q, "above 0 and at most 1");
  std::uint32_t b = 0;
  while (b < 63 && std::exp(std::ldexp(std::log1p(-q), static_cast<int>(b))) > golden_ratio_less_one) ++b;
  return b;
}

double rice_delta_bits(std::uint64_t m, double q) {
  detail::require_at_least_1("rice_delta_bits", "m", m);
  require_share("rice_delta_bits", q);
  return q == 0.0 ? 0.0 : static_cast<double>(m) * q * rice_bits_per_position(q, best_rice_parameter(q));
}

double dleft_changed_cells(std::uint64_t cells, std::uint64_t n, std::uint64_t r, std::uint64_t a) {
  return static_cast<double>(a) + still_vacant("dleft_changed_cells", cells, n, r, a);
}

double dleft_delta_bits(std::uint64_t cells, double changed_cells, std::uint32_t cell_bits) {
  detail::require_at_least_1("dleft_delta_bits", "cells", cells);
  require(changed_cells >= 0.0 && changed_cells <= static_cast<double>(cells), "dleft_delta_bits",
          "changed_cells", changed_cells, "0 to the cells");
  require(cell_bits <= 64, "dleft_delta_bits", "cell_bits", cell_bits, "0 to 64");
  return least_delta_bits(cells, changed_cells / static_cast<double>(cells)) + changed_cells * cell_bits;
}

double dleft_least_delta_bits(std::uint64_t cells, std::uint64_t n, std::uint64_t r, std::uint64_t a,
                              std::uint32_t remainder_bits) {
  constexpr const char* function = "dleft_least_delta_bits";
  require(remainder_bits <= 64, function, "remainder_bits", remainder_bits, "0 to 64");
  const double vacant = still_vacant(function, cells, n, r, a);
  const auto removed = static_cast<double>(r);
  const auto added = static_cast<double>(a);
  const auto choice = [](double chosen, double of) {
    return of > 0.0 ? of * binary_entropy(std::clamp(chosen / of, 0.0, 1.0)) : 0.0;
  };
  return choice(removed, static_cast<double>(n)) +
         choice(added - removed + vacant, static_cast<double>(cells - n)) + choice(vacant, removed) +
         added * remainder_bits;
}

Staleness summary_staleness(const DirectoryChange& change, const SendLimits& limits) {
  require(change.num_keys >= 1.0 && change.num_keys < never, "summary_staleness", "num_keys", change.num_keys,
          "at least 1 and finite");
  require_finite("insertion_rate", change.insertion_rate);
  require_finite("removal_rate", change.removal_rate);
  require_finite("new_key_popularity", change.new_key_popularity);
  require_finite("removed_key_popularity", change.removed_key_popularity);
  require_limit("new_share", limits.new_share);
  require(limits.interval > 0.0, "summary_staleness", "interval", limits.interval, "above 0");
  require_limit("max_bytes", limits.max_bytes);
  require_finite("header_bytes", limits.header_bytes);
  require_finite("bytes_per_change", limits.bytes_per_change);
  require_finite("delay", limits.delay);
  const double rate = change.insertion_rate;
  require(rate > 0.0 || change.removal_rate == 0.0 || !change.evictions, "summary_staleness", "removal_rate",
          change.removal_rate, "0 if all removals are evictions and nothing is inserted");
  const double N = keys_to_send(change, limits);
  const double T = limits.interval;
  require(T < never || (N < never && rate > 0.0), "summary_staleness", "interval", T,
          "finite if no other limit is ever reached");

  const bool by_time_alone = rate == 0.0;
  const CycleMoments moments = by_time_alone ? CycleMoments{} : cycle_moments(N, rate * T);
  const double cycle = by_time_alone ? T : moments.m / rate;
  const double waiting_keys = by_time_alone ? 0.0 : moments.m_pairs / (2 * moments.m);
  double removal_waits = by_time_alone ? T / 2 : moments.y_pairs / (2 * moments.m * rate);
  if (change.evictions && !by_time_alone) removal_waits = waiting_keys / rate;
  const double changes = rate + (change.evictions ? 0.0 : change.removal_rate);
  const double sends_per_cycle = T == never ? 1.0 : -std::expm1(-changes * T);

  Staleness result;
  result.interval = changes == 0.0 ? never : cycle / sends_per_cycle;
  result.unknown_keys = waiting_keys + rate * limits.delay;
  result.stale_keys = change.removal_rate * (removal_waits + limits.delay);
  const auto share = [&](double keys, double popularity) {
    return std::min(1.0, popularity * keys / change.num_keys);
  };
  result.stale_miss_share = share(result.unknown_keys, change.new_key_popularity);
  result.stale_hit_share = share(result.stale_keys, change.removed_key_popularity);
  result.bytes_rate =
      limits.header_bytes / result.interval + (rate + change.removal_rate) * limits.bytes_per_change;
  return result;
}

}  // namespace tally::theory

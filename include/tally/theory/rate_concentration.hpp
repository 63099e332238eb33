#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// How far the false positive rate of one filter lies from the limit p = (1 - exp(-lambda / k))^k of its scheme.
///
/// R is the false positive probability of a filter whose n keys are given: the rate of many queries to it. F is the
/// event of a false positive before the keys are given, so Pr(F) = E[R]. A bound above 1 is returned as 1.

/// Pr(|R - p| > epsilon) <= 2 exp(-2 n (epsilon - bias)^2 / (lambda^2 + xi)), and 1 where epsilon <= bias.
///
/// @param n        distinct keys
/// @param lambda   n times the probability that a key sets a given position of a query, summed over its k positions:
///                 k^2 n / m
/// @param xi       the deviation of the scheme's positions from uniformity; 0 for partition and (enhanced)
///                 double hashing
/// @param epsilon  above 0
/// @param bias     |Pr(F) - p|; 0 or more
/// @throws std::invalid_argument unless lambda > 0, xi >= 0, epsilon > 0, bias >= 0, all finite
/// @source Kirsch and Mitzenmacher, "Less Hashing, Same Performance", Theorem 7.1
TALLY_EXPORT double rate_deviation_bound(std::uint64_t n, double lambda, double xi, double epsilon,
                                         double bias);

/// The same for the share of q queries that are false positives:
/// 2 exp(-q epsilon^2 / 2) + rate_deviation_bound at epsilon / 2.
/// @source the same, Theorem 7.2, part 3
TALLY_EXPORT double measured_rate_deviation_bound(std::uint64_t n, double lambda, double xi, double epsilon,
                                                  double bias, std::uint64_t q);

/// The epsilon at which rate_deviation_bound is delta: bias + sqrt((lambda^2 + xi) ln(2 / delta) / (2 n)).
/// delta in (0, 1), n at least 1.
TALLY_EXPORT double rate_deviation(std::uint64_t n, double lambda, double xi, double bias, double delta);

/// Sharper than Theorem 7.1, by the variance of R. m 1 or more, k 1 to 1024, f in (0, 1), epsilon above 0 and finite; else
/// std::invalid_argument. docs/theory.md has the proofs.

/// Var R <= k^3 f / m, and <= f (1 - f), for a scheme with Pr(position i of a key is r) = 1/m, such as all of ours, on one array
/// or in k parts of m/k.
/// @param f  Pr(F), the mean of R
/// @source ours, by the inequality of Efron and Stein
TALLY_EXPORT double rate_variance_bound(std::uint64_t m, std::uint32_t k, double f);

/// Pr(|R - f| >= epsilon) <= exp(-m epsilon^2 / (2 k^3 (f + epsilon))) + exp(-m epsilon^2 / (2 k^2 (k f + epsilon / 3))) for the
/// same schemes.
/// @source ours, by the inequality of McDiarmid and Reed 2006 for self-bounding functions
TALLY_EXPORT double rate_deviation_bound_by_rate(std::uint64_t m, std::uint32_t k, double f, double epsilon);

/// For k independent positions: bound on Pr(|R - f| >= epsilon), f = (1 - (1 - 1/m)^(k n))^k here. Chernoff's bound for the
/// number of empty positions, whose indicators are negatively associated. n at least 1.
/// @source ours
TALLY_EXPORT double rate_deviation_bound_independent(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                     double epsilon);

/// k^2 (1 - exp(-kappa))^(2k - 2) (exp(-kappa) - (1 + kappa) exp(-2 kappa)) / m, kappa = k n / m: the limit of m Var R over m, the
/// same for all schemes of Kirsch and Mitzenmacher.
/// @source ours
TALLY_EXPORT double rate_variance_approximate(std::uint64_t m, std::uint32_t k, std::uint64_t n);

}  // namespace tally::theory

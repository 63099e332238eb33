#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// Natural logarithms of Poisson and binomial point and tail probabilities.
///
/// Tails are summed term by term away from the mean, in the domain of logarithms, and never as one minus
/// something close to one. So the results keep their relative accuracy where the probability itself
/// underflows. A probability 0 has the logarithm -infinity. Point probabilities are computed in the form of
/// C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000).
///
/// Ranges: theta 0 to 2^40; kappa finite and at least 0; trials a whole number from 0 to 2^75
/// (a double, because k n may pass 2^64); p in [0, 1]. Anything else throws std::invalid_argument.

/// ln Pr(Poisson(kappa) = x).
TALLY_EXPORT double ln_poisson_point(std::uint64_t x, double kappa);

/// ln Pr(Poisson(kappa) >= theta) = ln P(theta, kappa), P the regularised lower incomplete gamma function.
TALLY_EXPORT double ln_poisson_upper_tail(std::uint64_t theta, double kappa);

/// ln Pr(Poisson(kappa) < theta).
TALLY_EXPORT double ln_poisson_lower_tail(std::uint64_t theta, double kappa);

/// ln Pr(Binomial(trials, p) = x).
TALLY_EXPORT double ln_binomial_point(std::uint64_t x, double trials, double p);

/// ln Pr(Binomial(trials, p) >= theta).
TALLY_EXPORT double ln_binomial_upper_tail(std::uint64_t theta, double trials, double p);

/// ln Pr(Binomial(trials, p) < theta).
TALLY_EXPORT double ln_binomial_lower_tail(std::uint64_t theta, double trials, double p);

}  // namespace tally::theory

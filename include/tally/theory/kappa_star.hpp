#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// The best load of a count-threshold filter.
///
/// kappa = k n / m is the mean of a counter. With P(theta, kappa) = Pr(Poisson(kappa) >= theta) the false
/// positive probability is P^(kappa m / n). kappa*(theta) minimizes it and depends only on theta. theta 1 to
/// 2^32; kappa finite and above 0; else std::invalid_argument.
/// @source Kim, Jeong, Lee, Lee 2019 (count thresholding), section 3.2

/// The only zero of g, found as the zero of ln P + kappa P'/P, which does not underflow.
/// kappa*(1) = ln 2. Relative accuracy 1e-14 at the references (theta to 2^32), so above kappa_1 as in Theorem 1.
TALLY_EXPORT double kappa_star(std::uint64_t theta);

/// kappa* ln P(theta, kappa*): the best false positive probability is exp(ln_c(theta) m / n).
TALLY_EXPORT double ln_c(std::uint64_t theta);

/// The paper's straight line 0.2037 theta + 0.9176; within 2% of kappa* for theta > 30.
TALLY_EXPORT double kappa_star_line(std::uint64_t theta);

/// y1 = ln P(theta, kappa), concave and rising (Lemma 1).
TALLY_EXPORT double y1(std::uint64_t theta, double kappa);

/// y2 = kappa - theta - 1; g falls where y1 < y2 and rises where y1 > y2.
TALLY_EXPORT double y2(std::uint64_t theta, double kappa);

/// g = P ln P + kappa dP/dkappa: falls from 0 on (0, kappa_1), rises on (kappa_1, kappa_2), falls to 0
/// after it (Lemmas 3 to 5). 0 where P underflows.
TALLY_EXPORT double g(std::uint64_t theta, double kappa);

/// The two points with y1 = y2: kappa_1 < (theta + 1)/2 < kappa_2 < theta + 1 (Lemmas 2 to 4).
TALLY_EXPORT double kappa_1(std::uint64_t theta);
TALLY_EXPORT double kappa_2(std::uint64_t theta);

}  // namespace tally::theory

#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// An interval of probabilities, with both ends.
struct ProbabilityInterval {
  double low = 0.0;
  double high = 1.0;
};

/// An interval of counts, with both ends.
struct CountInterval {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Two-sided exact limits for an unknown probability, from `successes` in `trials`: each limit is wrong with
/// a probability of at most (1 - confidence)/2. trials at least 1; successes at most trials; confidence in
/// (0, 1); else std::invalid_argument.
/// @source Clopper and Pearson 1934
TALLY_EXPORT ProbabilityInterval binomial_confidence_limits(std::uint64_t successes, std::uint64_t trials,
                                                            double confidence);

/// The narrowest [low, high] with Pr(X < low) and Pr(X > high) both at most (1 - confidence)/2, for
/// X ~ Binomial(trials, p). A simulation outside it contradicts p. p in [0, 1]; trials at most 2^40.
TALLY_EXPORT CountInterval binomial_acceptance_interval(double p, std::uint64_t trials, double confidence);

/// How many standard errors the two-sided limits of a normally distributed estimate are away from it. confidence in (0, 1).
TALLY_EXPORT double normal_deviations(double confidence);

/// Confidence for each of num_tests tests so that all hold together with family_confidence (Bonferroni):
/// 1 - (1 - family_confidence)/num_tests. num_tests at least 1.
TALLY_EXPORT double per_test_confidence(double family_confidence, std::uint64_t num_tests);

}  // namespace tally::theory

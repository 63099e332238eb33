#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// A number of distinct keys and its standard error; both infinite if no position is 0.
struct DistinctKeysEstimate {
  double num_keys = 0.0;
  double standard_error = 0.0;
};

/// Distinct keys in a filter, from the number of its positions that are still 0:
///
///     n = -(m/k) ln(zeros/m),    standard error sqrt(m (exp(kappa) - kappa - 1)) / k,    kappa = k n / m
///
/// The standard error is that of the number of empty bins after k n independent throws, propagated through
/// the logarithm. It is wrong if few positions are 0: then the logarithm is far from linear, and the estimate
/// is skewed and too high on average by about (exp(kappa) - kappa - 1) / (2 k). If no position is 0 there is
/// no estimate.
///
/// @param m      positions; at least 1
/// @param k      hash functions; 1 to 1024
/// @param zeros  positions that are 0; at most m
/// @throws std::invalid_argument for anything else
/// @source Whang, Vander-Zanden, Taylor, "A Linear-Time Probabilistic Counting Algorithm" (1990), k = 1
TALLY_EXPORT DistinctKeysEstimate estimate_distinct_keys(std::uint64_t m, std::uint32_t k,
                                                         std::uint64_t zeros);

}  // namespace tally::theory

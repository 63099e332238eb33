#include "tally/theory/estimate.hpp"

#include <cmath>

#include "theory/detail.hpp"

namespace tally::theory {

DistinctKeysEstimate estimate_distinct_keys(std::uint64_t m, std::uint32_t k, std::uint64_t zeros) {
  constexpr const char* function = "estimate_distinct_keys";
  detail::require_m_and_k(function, m, k);
  detail::require(zeros <= m, function, "zeros", zeros, "at most m");
  if (zeros == 0) return {detail::infinity, detail::infinity};
  const auto positions = static_cast<double>(m);
  // ln(zeros/m) from the positions that are set: exact where few are.
  const double kappa = -std::log1p(-static_cast<double>(m - zeros) / positions);
  // exp(kappa) - kappa - 1 cancels for small kappa; there it is kappa^2/2 + kappa^3/6 + ...
  const double excess = kappa < 1e-4 ? kappa * kappa * (0.5 + kappa / 6.0) : std::expm1(kappa) - kappa;
  return {positions * kappa / k, std::sqrt(positions * excess) / k};
}

}  // namespace tally::theory

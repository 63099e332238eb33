#include "tally/theory/longest_prefix.hpp"

#include <cmath>

#include "theory/detail.hpp"

namespace tally::theory {
namespace {

void check_rate(const char* function, double f) {
  detail::require(f >= 0.0 && f <= 1.0, function, "f", f, "0 to 1");
}

}  // namespace

double ln_overstated_prefix_probability(double f, std::uint64_t num_blocks, std::uint64_t num_peers) {
  constexpr const char* function = "overstated_prefix_probability";
  check_rate(function, f);
  detail::require_at_least_1(function, "num_peers", num_peers);
  if (num_blocks == 0 || f == 1.0) return 0.0;
  if (f == 0.0) return -detail::infinity;
  const double ln_one = static_cast<double>(num_blocks) * std::log(f);
  const double ln_no_peer = static_cast<double>(num_peers) * detail::ln_one_minus_exp(ln_one);
  // Of a probability that underflows the union bound is exact.
  return ln_no_peer == 0.0 ? ln_one + std::log(static_cast<double>(num_peers))
                           : detail::ln_one_minus_exp(ln_no_peer);
}

double overstated_prefix_probability(double f, std::uint64_t num_blocks, std::uint64_t num_peers) {
  return std::exp(ln_overstated_prefix_probability(f, num_blocks, num_peers));
}

double mean_overstated_blocks(double f, std::uint64_t num_blocks_left) {
  check_rate("mean_overstated_blocks", f);
  const auto left = static_cast<double>(num_blocks_left);
  if (f == 1.0) return left;
  return f / (1.0 - f) * (f == 0.0 ? 1.0 : -std::expm1(left * std::log(f)));
}

}  // namespace tally::theory

#include "tally/theory/blocked_bloom.hpp"

#include <cmath>

#include "tally/theory/bloom.hpp"
#include "theory/coverage.hpp"
#include "theory/detail.hpp"
#include "theory/line_mixture.hpp"

namespace tally::theory {
namespace {

/// ln of the mixture; next_g() gives g(1), g(2), ... in turn.
template <class NextG>
double ln_mixture(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k, std::uint64_t n, NextG next_g) {
  return detail::ln_line_mixture(num_blocks, k, -static_cast<double>(k) / B, n, next_g);
}

}  // namespace

double ln_blocked_bloom_false_positive_probability(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                                                   std::uint64_t n) {
  detail::require_lines("blocked_bloom_false_positive_probability", num_blocks, B, k);
  detail::CoverageChain block(B, k, 1.0);
  return ln_mixture(num_blocks, B, k, n, [&] {
    for (std::uint32_t i = 0; i < k; ++i) block.throw_once();
    return block.scaled_probability();
  });
}

double blocked_bloom_false_positive_probability(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                                                std::uint64_t n) {
  return std::exp(ln_blocked_bloom_false_positive_probability(num_blocks, B, k, n));
}

double ln_blocked_bloom_false_positive_probability_approximate(std::uint64_t num_blocks, std::uint32_t B,
                                                               std::uint32_t k, std::uint64_t n) {
  detail::require_lines("blocked_bloom_false_positive_probability_approximate", num_blocks, B, k);
  std::uint64_t j = 0;
  return ln_mixture(num_blocks, B, k, n, [&] {
    return std::exp(static_cast<detail::Extended>(ln_false_positive_probability(B, k, ++j)));
  });
}

double blocked_bloom_false_positive_probability_approximate(std::uint64_t num_blocks, std::uint32_t B,
                                                            std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_blocked_bloom_false_positive_probability_approximate(num_blocks, B, k, n));
}

std::uint32_t best_num_hashes_blocked_bloom(std::uint64_t num_blocks, std::uint32_t B, std::uint64_t n) {
  detail::require_lines("best_num_hashes_blocked_bloom", num_blocks, B, 1);
  detail::require_at_least_1("best_num_hashes_blocked_bloom", "n", n);
  std::uint32_t best = 1;
  double least = ln_blocked_bloom_false_positive_probability(num_blocks, B, 1, n);
  for (std::uint32_t k = 2; k <= 64; ++k) {
    const double value = ln_blocked_bloom_false_positive_probability(num_blocks, B, k, n);
    if (value >= least) break;
    least = value;
    best = k;
  }
  return best;
}

std::uint64_t blocked_bloom_num_blocks_for(double target, std::uint32_t B, std::uint32_t k, std::uint64_t n) {
  constexpr const char* function = "blocked_bloom_num_blocks_for";
  detail::require_lines(function, 1, B, k);
  detail::require_open_unit(function, "target", target);
  const auto reached = [&](std::uint64_t num_blocks) {
    return ln_blocked_bloom_false_positive_probability(num_blocks, B, k, n) <= std::log(target);
  };
  std::uint64_t enough = 1;
  while (!reached(enough)) {
    enough *= 2;
    detail::require(enough <= (std::uint64_t{1} << 50), function, "target", target,
                    "reachable with 2^50 blocks");
  }
  std::uint64_t low = enough / 2;  // not enough, or 0
  while (enough - low > 1) {
    const std::uint64_t middle = low + (enough - low) / 2;
    (reached(middle) ? enough : low) = middle;
  }
  return enough;
}

}  // namespace tally::theory

#include "tally/theory/register_bloom.hpp"

#include <cmath>

#include "theory/coverage.hpp"
#include "theory/detail.hpp"
#include "theory/line_mixture.hpp"

namespace tally::theory {

double ln_register_bloom_false_positive_probability(std::uint64_t num_blocks, std::uint32_t num_words,
                                                    std::uint32_t B, std::uint32_t k, std::uint64_t n) {
  constexpr const char* function = "register_bloom_false_positive_probability";
  detail::require_at_least_1(function, "num_blocks", num_blocks);
  detail::require(num_words >= 1 && num_words <= 64, function, "num_words", num_words, "1 to 64");
  detail::require(B >= 1 && B <= 4096, function, "B", B, "1 to 4096");
  detail::require_num_hashes(function, k);
  detail::require(k % num_words == 0, function, "k", k, "a multiple of num_words");
  const std::uint32_t per_word = k / num_words;
  detail::CoverageChain word(B, per_word, 1.0);
  return detail::ln_line_mixture(num_blocks, k, -static_cast<double>(per_word) / B, n, [&] {
    for (std::uint32_t i = 0; i < per_word; ++i) word.throw_once();
    return std::pow(word.scaled_probability(), static_cast<detail::Extended>(num_words));
  });
}

double register_bloom_false_positive_probability(std::uint64_t num_blocks, std::uint32_t num_words,
                                                 std::uint32_t B, std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_register_bloom_false_positive_probability(num_blocks, num_words, B, k, n));
}

}  // namespace tally::theory

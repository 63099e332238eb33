#include "tally/theory/confidence.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

/// The smallest x in [low, high] for which holds(x) is true; it is true at high.
template <class Predicate>
std::uint64_t first_true(std::uint64_t low, std::uint64_t high, Predicate holds) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

ProbabilityInterval binomial_confidence_limits(std::uint64_t successes, std::uint64_t trials,
                                               double confidence) {
  constexpr const char* function = "binomial_confidence_limits";
  detail::require_at_least_1(function, "trials", trials);
  detail::require(successes <= trials, function, "successes", successes, "at most trials");
  detail::require_open_unit(function, "confidence", confidence);
  const double side = 0.5 * (1.0 - confidence);
  const auto s = static_cast<double>(successes);
  const auto f = static_cast<double>(trials - successes);
  return {successes == 0 ? 0.0 : boost::math::ibeta_inv(s, f + 1.0, side),
          successes == trials ? 1.0 : boost::math::ibetac_inv(s + 1.0, f, side)};
}

CountInterval binomial_acceptance_interval(double p, std::uint64_t trials, double confidence) {
  constexpr const char* function = "binomial_acceptance_interval";
  detail::require(p >= 0.0 && p <= 1.0, function, "p", p, "0 to 1");
  detail::require(trials <= detail::max_theta, function, "trials", trials, "0 to 2^40");
  detail::require_open_unit(function, "confidence", confidence);
  const double ln_side = std::log(0.5 * (1.0 - confidence));
  const auto size = static_cast<double>(trials);
  const std::uint64_t low = first_true(0, trials, [&](std::uint64_t x) {
    return x >= trials || ln_binomial_lower_tail(x + 1, size, p) > ln_side;
  });
  const std::uint64_t high = first_true(low, trials, [&](std::uint64_t x) {
    return x >= trials || ln_binomial_upper_tail(x + 1, size, p) <= ln_side;
  });
  return {low, high};
}

double normal_deviations(double confidence) {
  detail::require_open_unit("normal_deviations", "confidence", confidence);
  return std::sqrt(2.0) * boost::math::erf_inv(confidence);
}

double per_test_confidence(double family_confidence, std::uint64_t num_tests) {
  detail::require_open_unit("per_test_confidence", "family_confidence", family_confidence);
  detail::require_at_least_1("per_test_confidence", "num_tests", num_tests);
  return 1.0 - (1.0 - family_confidence) / static_cast<double>(num_tests);
}

}  // namespace tally::theory

#include "tally/theory/partition_double.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

#include "theory/detail.hpp"

namespace tally::theory {
namespace {

namespace mp = boost::multiprecision;

// C(1024, 512) is about 4.5e306 and f is at least E, about 2^-128 or more: 400 digits leave 50.
using Wide = mp::number<mp::cpp_bin_float<400>, mp::et_off>;

/// Pr(n throws on p + 1 positions hit k given ones), by inclusion and exclusion.
double all_hit(std::uint64_t p, std::uint32_t k, std::uint64_t n) {
  const Wide positions = Wide(p) + 1;
  Wide binomial = 1;
  Wide sum = 0;
  for (std::uint32_t j = 0; j <= k; ++j) {
    const Wide missed = mp::pow(Wide((positions - j) / positions), n);
    sum += (j % 2 == 0 ? binomial : Wide(-binomial)) * missed;
    binomial = binomial * (k - j) / (j + 1);
  }
  // With fewer than k keys the sum is 0 except for rounding.
  return n < k ? 0.0 : static_cast<double>(sum);
}

}  // namespace

double partition_double_false_positive_probability(std::uint64_t p, std::uint32_t k, std::uint64_t n) {
  constexpr const char* function = "partition_double_false_positive_probability";
  detail::require_num_hashes(function, k);
  detail::require(p >= 2 && p >= k, function, "p", p, "at least 2 and at least k");
  const auto part = static_cast<double>(p);
  const double same = -std::expm1(static_cast<double>(n) * std::log1p(-1.0 / part / part));
  return same + (1.0 - same) * all_hit(p, k, n);
}

double ln_partition_double_false_positive_probability(std::uint64_t p, std::uint32_t k, std::uint64_t n) {
  return std::log(partition_double_false_positive_probability(p, k, n));
}

}  // namespace tally::theory

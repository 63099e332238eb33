#include <cmath>

#include "commands/formulas.hpp"
#include "tally/theory/largest_share.hpp"

namespace tally::cli {
namespace {

double average_share(const Arguments& arguments) {
  return static_cast<double>(arguments.count("n")) / static_cast<double>(arguments.count("shares"));
}

FormulaResult larger_share(const Arguments& arguments) {
  const double ln_bound = theory::ln_probability_of_larger_share(
      arguments.count("n"), arguments.count("shares"), arguments.count("share-keys"));
  return {std::exp(ln_bound), ln_bound, {{"average_share", average_share(arguments)}}};
}

FormulaResult largest_share(const Arguments& arguments) {
  const std::uint64_t n = arguments.count("n");
  const std::uint64_t s = arguments.count("shares");
  const std::uint64_t c = theory::largest_share(n, s, arguments.real("failure-probability"));
  return {static_cast<double>(c),
          std::nullopt,
          {{"average_share", average_share(arguments)},
           {"failure_probability", theory::probability_of_larger_share(n, s, c)}}};
}

}  // namespace

std::vector<Formula> share_formulas() {
  return {
      {"larger-share-probability", "--n --shares --share-keys",
       "bound s Pr(Binomial(n, 1/s) > c) on Pr(some of s shares gets more than c of n keys)",
       "union bound; Raab, Steger 1998", larger_share},
      {"largest-share", "--n --shares --failure-probability",
       "the least c for which that bound is at most the failure probability",
       "union bound; Raab, Steger 1998", largest_share},
  };
}

}  // namespace tally::cli

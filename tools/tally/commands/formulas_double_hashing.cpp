#include <cmath>
#include <stdexcept>

#include "commands/formulas.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/coinciding_positions.hpp"
#include "tally/theory/double_hashing.hpp"
#include "tally/theory/double_hashing_expansion.hpp"
#include "tally/theory/rate_concentration.hpp"

namespace tally::cli {
namespace {

theory::DoubleHashing scheme_asked_for(const Arguments& arguments) {
  using enum theory::DoubleHashing;
  theory::DoubleHashing scheme = plain;
  int num_given = 0;
  for (const auto& [flag, meant] : {std::pair{"quadratic", quadratic}, std::pair{"cubic", cubic},
                                    std::pair{"triple", triple}, std::pair{"partition", partition}}) {
    if (!arguments.has(flag)) continue;
    scheme = meant;
    ++num_given;
  }
  if (num_given > 1)
    throw std::invalid_argument("give at most one of --quadratic, --cubic, --triple and --partition");
  return scheme;
}

FormulaResult double_hashing_rate(const Arguments& arguments) {
  const theory::DoubleHashing scheme = scheme_asked_for(arguments);
  const std::uint64_t m = arguments.count("m");
  const std::uint32_t k = arguments.small_count("k");
  if (arguments.has("expansion")) {
    const double ln_rate =
        theory::ln_double_hashing_false_positive_probability_expansion(scheme, m, k, arguments.count("n"));
    return {std::exp(ln_rate), ln_rate};
  }
  const double rate = theory::double_hashing_false_positive_probability(scheme, m, k, arguments.count("n"));
  FormulaResult result{rate, std::log(rate)};
  result.lists.emplace_back("distinct_positions", theory::double_hashing_distinct_positions(scheme, m, k));
  return result;
}

FormulaResult coinciding_positions(const Arguments& arguments) {
  const double w[] = {arguments.real("probability"), 1.0};
  const std::uint64_t m = arguments.count("m");
  const std::uint32_t k = arguments.small_count("k");
  const theory::DoubleHashing scheme = scheme_asked_for(arguments);
  if (scheme == theory::DoubleHashing::plain && !arguments.has("double")) {
    const double ln_mean = theory::ln_mean_over_coinciding_positions(m, k, w);
    return {std::exp(ln_mean), ln_mean};
  }
  const double mean =
      std::pow(w[0], k) + theory::double_hashing_gain_by_coinciding_positions(scheme, m, k, w);
  return {mean, std::log(mean)};
}

FormulaResult rate_deviation(const Arguments& arguments) {
  const std::uint64_t n = arguments.count("n");
  const std::uint64_t m = arguments.count("m");
  const auto k = static_cast<double>(arguments.small_count("k"));
  if (m == 0) throw std::invalid_argument("--m is 0; must be at least 1");
  const double lambda = k * k * static_cast<double>(n) / static_cast<double>(m);
  const double epsilon = arguments.real("epsilon");
  const double bias = arguments.has("bias") ? arguments.real("bias") : 0;
  if (arguments.has("queries")) {
    const double bound =
        theory::measured_rate_deviation_bound(n, lambda, 0, epsilon, bias, arguments.count("queries"));
    return {bound, std::log(bound)};
  }
  const double bound = theory::rate_deviation_bound(n, lambda, 0, epsilon, bias);
  FormulaResult result{bound, std::log(bound)};
  const double rate = theory::false_positive_probability(m, arguments.small_count("k"), n);
  if (n == 0 || rate <= 0 || rate >= 1) return result;
  const std::uint32_t num_hashes = arguments.small_count("k");
  result.fields = {{"bound_by_rate", theory::rate_deviation_bound_by_rate(m, num_hashes, rate, epsilon)},
                   {"bound_independent", theory::rate_deviation_bound_independent(m, num_hashes, n, epsilon)},
                   {"standard_deviation", std::sqrt(theory::rate_variance_approximate(m, num_hashes, n))},
                   {"standard_deviation_bound", std::sqrt(theory::rate_variance_bound(m, num_hashes, rate))}};
  return result;
}

}  // namespace

std::vector<Formula> double_hashing_formulas() {
  return {
      {"double-hashing-false-positive-rate",
       "--m --k --n [--quadratic] [--cubic] [--triple] [--partition] [--expansion]",
       "h1 + i h2 mod m, exact for every m and n (up to 2^33 steps; k up to 16), and the probabilities of "
       "0, 1, ..., k distinct positions; with expansion, for any m and k but for terms of the second order "
       "in 1/m",
       "by counting, or our own expansion; schemes of Kirsch, Mitzenmacher 2008, section 5",
       double_hashing_rate},
      {"coinciding-positions", "--m --k --probability [--double] [--quadratic] [--cubic] [--triple]",
       "probability that all counters of a key pass, each with this probability, but those that two or more "
       "of "
       "its k "
       "positions share for certain: the false positive rate of a key that was inserted theta - 1 times",
       "ours; docs/theory.md", coinciding_positions},
      {"false-positive-rate-deviation", "--m --k --n --epsilon [--bias] [--queries]",
       "bound on Pr(the rate of a filter differs from the limit by more than epsilon); with queries, on "
       "that of a rate measured with this number of queries; without them, sharper bounds and the standard "
       "deviation of the rate, too",
       "Kirsch, Mitzenmacher 2008, Theorems 7.1 and 7.2; docs/theory.md", rate_deviation},
  };
}

}  // namespace tally::cli

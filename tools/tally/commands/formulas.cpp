#include "commands/formulas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "input/sample.hpp"
#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/confidence.hpp"
#include "tally/theory/counter_overflow.hpp"
#include "tally/theory/estimate.hpp"
#include "tally/theory/kappa_star.hpp"
#include "tally/theory/partition_double.hpp"
#include "tally/theory/register_bloom.hpp"
#include "tally/theory/similarity.hpp"
#include "tally/theory/tails.hpp"
#include "tally/theory/threshold.hpp"

namespace tally::cli {
namespace {

FormulaResult probability(double ln_value) { return {std::exp(ln_value), ln_value}; }

FormulaResult bloom(const Arguments& arguments) {
  const std::uint64_t m = arguments.count("m");
  const std::uint32_t k = arguments.small_count("k");
  const std::uint64_t n = arguments.count("n");
  if (arguments.has("approximate"))
    return probability(theory::ln_false_positive_probability_approximate(m, k, n));
  if (arguments.has("occupancy"))
    return probability(theory::ln_false_positive_probability_occupancy(m, k, n));
  if (arguments.has("expansion"))
    return probability(theory::ln_false_positive_probability_expansion(m, k, n));
  if (arguments.has("partitioned"))
    return probability(theory::ln_false_positive_probability_partitioned(m, k, n));
  return probability(theory::ln_false_positive_probability(m, k, n));
}

FormulaResult bloom_best_k(const Arguments& arguments) {
  const std::uint64_t m = arguments.count("m");
  const std::uint64_t n = arguments.count("n");
  const std::uint32_t k = theory::best_num_hashes(m, n);
  return {static_cast<double>(k),
          std::nullopt,
          {{"real_num_hashes", theory::best_num_hashes_real(m, n)},
           {"false_positive_rate", theory::false_positive_probability(m, k, n)}}};
}

FormulaResult bloom_best_rate(const Arguments& arguments) {
  return probability(theory::ln_best_false_positive_probability(arguments.count("m"), arguments.count("n")));
}

std::uint64_t num_lines(const Arguments& arguments, std::uint32_t line_bits) {
  const std::uint64_t m = arguments.count("m");
  if (line_bits == 0 || m == 0 || m % line_bits != 0) {
    throw std::invalid_argument("--m is " + std::to_string(m) + "; must be a multiple of --line-bits, " +
                                std::to_string(line_bits));
  }
  return m / line_bits;
}

FormulaResult blocked(const Arguments& arguments) {
  const std::uint32_t B = arguments.small_count_or("line-bits", 512);
  const std::uint64_t lines = num_lines(arguments, B);
  const std::uint32_t k = arguments.small_count("k");
  const std::uint64_t n = arguments.count("n");
  return probability(arguments.has("approximate")
                         ? theory::ln_blocked_bloom_false_positive_probability_approximate(lines, B, k, n)
                         : theory::ln_blocked_bloom_false_positive_probability(lines, B, k, n));
}

FormulaResult blocked_best_k(const Arguments& arguments) {
  const std::uint32_t B = arguments.small_count_or("line-bits", 512);
  const std::uint64_t lines = num_lines(arguments, B);
  const std::uint32_t k = theory::best_num_hashes_blocked_bloom(lines, B, arguments.count("n"));
  return {static_cast<double>(k),
          std::nullopt,
          {{"false_positive_rate",
            theory::blocked_bloom_false_positive_probability(lines, B, k, arguments.count("n"))}}};
}

FormulaResult register_blocked(const Arguments& arguments) {
  constexpr std::uint32_t word_bits = 64;
  const std::uint32_t B = arguments.small_count_or("line-bits", 512);
  if (B % word_bits != 0) {
    throw std::invalid_argument("--line-bits is " + std::to_string(B) +
                                "; must be a multiple of 64, the bits of a word");
  }
  return probability(theory::ln_register_bloom_false_positive_probability(
      num_lines(arguments, B), B / word_bits, word_bits, arguments.small_count("k"), arguments.count("n")));
}

FormulaResult partition_double(const Arguments& arguments) {
  const std::uint32_t k = arguments.small_count("k");
  if (arguments.has("p") == arguments.has("m")) {
    throw std::invalid_argument(
        "partition-double-false-positive-rate: give one of --p (bits in a part) and --m (all bits)");
  }
  std::uint64_t p = arguments.count_or("p", 0);
  if (arguments.has("m")) {
    const std::uint64_t m = arguments.count("m");
    if (k == 0 || m % k != 0) {
      throw std::invalid_argument("--m is " + std::to_string(m) + "; must be a multiple of --k, " +
                                  std::to_string(k));
    }
    p = m / k;
  }
  return probability(theory::ln_partition_double_false_positive_probability(p, k, arguments.count("n")));
}

FormulaResult overflow(const Arguments& arguments) {
  const std::uint64_t m = arguments.count("m");
  const std::uint32_t k = arguments.small_count("k");
  const std::uint64_t n = arguments.count("n");
  const std::uint64_t i = arguments.count("limit");
  FormulaResult result = probability(theory::ln_counter_overflow_bound(m, k, n, i));
  const auto add = [&](const std::string& name, double ln_bound) {
    result.fields.emplace_back(name, std::exp(ln_bound));
    result.fields.emplace_back("ln_" + name, ln_bound);
  };
  add("union_bound", theory::ln_counter_overflow_union_bound(m, k, n, i));
  add("simple_bound", theory::ln_counter_overflow_bound_simple(m, k, n, i));
  add("best_k_bound", theory::ln_counter_overflow_bound_best_k(m, i));
  return result;
}

FormulaResult largest_counter(const Arguments& arguments) {
  return {theory::expected_largest_counter(arguments.count("m"), arguments.small_count("k"),
                                           arguments.count("n"))};
}

FormulaResult threshold(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  const std::uint32_t k = arguments.small_count("k");
  const std::uint64_t n = arguments.count("n");
  const std::uint64_t m = arguments.count("m");
  const std::uint64_t t = arguments.count_or("true-count", 0);
  return probability(arguments.has("exact")
                         ? theory::ln_threshold_false_positive_probability(theta, k, n, m, t)
                         : theory::ln_threshold_false_positive_probability_approximate(theta, k, n, m, t));
}

FormulaResult threshold_best_k(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  const std::uint64_t n = arguments.count("n");
  const std::uint64_t m = arguments.count("m");
  const std::uint32_t k = theory::best_num_hashes_threshold(theta, n, m);
  return {
      static_cast<double>(k),
      std::nullopt,
      {{"real_num_hashes", theory::kappa_star(theta) * static_cast<double>(m) / static_cast<double>(n)},
       {"false_positive_rate", theory::threshold_false_positive_probability_approximate(theta, k, n, m)}}};
}

FormulaResult kappa_star(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  return {theory::kappa_star(theta),
          std::nullopt,
          {{"ln_c", theory::ln_c(theta)},
           {"kappa_1", theory::kappa_1(theta)},
           {"kappa_2", theory::kappa_2(theta)},
           {"line", theory::kappa_star_line(theta)}}};
}

FormulaResult g_function(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  const double kappa = arguments.real("kappa");
  return {theory::g(theta, kappa),
          std::nullopt,
          {{"y1", theory::y1(theta, kappa)}, {"y2", theory::y2(theta, kappa)}}};
}

FormulaResult compound(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  const theory::CountHistogram histogram =
      histogram_of(arguments, "compound-threshold-false-positive-rate", theta);
  FormulaResult result = probability(theory::ln_compound_threshold_false_positive_probability(
      histogram, theta, arguments.small_count("k"), arguments.count("m"),
      arguments.count_or("true-count", 0)));
  result.fields.emplace_back("distinct_keys", histogram.num_distinct());
  return result;
}

FormulaResult distinct_keys(const Arguments& arguments) {
  const theory::DistinctKeysEstimate estimate = theory::estimate_distinct_keys(
      arguments.count("m"), arguments.small_count("k"), arguments.count("zeros"));
  return {estimate.num_keys, std::nullopt, {{"standard_error", estimate.standard_error}}};
}

FormulaResult similarity(const Arguments& arguments) {
  const theory::OccupiedPositions occupied{arguments.count("occupied-a"), arguments.count("occupied-b"),
                                           arguments.count("occupied-either")};
  const std::uint32_t k = arguments.small_count("k");
  const std::uint64_t m = arguments.count("m");
  const std::uint32_t line_bits = arguments.small_count_or("line-bits", 0);
  const theory::SimilarityEstimate found =
      arguments.has("line-bits")
          ? theory::estimate_similarity_blocked(num_lines(arguments, line_bits), line_bits, k, occupied)
          : theory::estimate_similarity(m, k, occupied);
  return {found.jaccard.value,
          std::nullopt,
          {{"standard_error", found.jaccard.standard_error},
           {"num_keys_a", found.num_keys_a.value},
           {"num_keys_b", found.num_keys_b.value},
           {"union_size", found.union_size.value},
           {"intersection_size", found.intersection_size.value},
           {"containment_a", found.containment_a.value},
           {"containment_b", found.containment_b.value}}};
}

FormulaResult inverse_gamma(const Arguments& arguments) {
  return {theory::inverse_gamma_function(arguments.real("x"))};
}

FormulaResult poisson(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  const double kappa = arguments.real("kappa");
  return probability(arguments.has("lower") ? theory::ln_poisson_lower_tail(theta, kappa)
                                            : theory::ln_poisson_upper_tail(theta, kappa));
}

FormulaResult binomial(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  const auto trials = static_cast<double>(arguments.count("trials"));
  const double p = arguments.real("probability");
  return probability(arguments.has("lower") ? theory::ln_binomial_lower_tail(theta, trials, p)
                                            : theory::ln_binomial_upper_tail(theta, trials, p));
}

FormulaResult confidence_limits(const Arguments& arguments) {
  const std::uint64_t successes = arguments.count("successes");
  const std::uint64_t trials = arguments.count("trials");
  const theory::ProbabilityInterval limits =
      theory::binomial_confidence_limits(successes, trials, arguments.real("confidence"));
  return {static_cast<double>(successes) / static_cast<double>(trials),
          std::nullopt,
          {{"low", limits.low}, {"high", limits.high}}};
}

}  // namespace

std::uint64_t Arguments::count_or(std::string_view name, std::uint64_t otherwise) const {
  const auto found = counts.find(name);
  return found == counts.end() ? otherwise : found->second;
}

bool Arguments::has(std::string_view name) const {
  return counts.contains(name) || reals.contains(name) || files.contains(name) || flags.contains(name);
}

std::uint32_t Arguments::narrowed(std::string_view name, std::uint64_t value) {
  if (value <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(value);
  throw std::invalid_argument("--" + std::string(name) + " is " + std::to_string(value) +
                              "; must be below 2^32");
}

std::vector<Formula::Parameter> Formula::parameter_list() const {
  std::vector<Parameter> list;
  for (std::size_t at = 0; (at = parameters.find("--", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(parameters.find_first_of(" ]", at), parameters.size());
    list.push_back(
        {std::string(parameters.substr(at + 2, end - at - 2)), at == 0 || parameters[at - 1] != '['});
    at = end;
  }
  return list;
}

namespace {

std::vector<Formula> all_formulas() {
  std::vector<Formula> table{
      {"bloom-false-positive-rate", "--m --k --n [--approximate] [--occupancy] [--expansion] [--partitioned]",
       "(1 - (1 - 1/m)^(k n))^k; approximate: (1 - exp(-k n / m))^k; occupancy: the exact rate for k "
       "independent positions; expansion: that in powers of 1/m, for any size",
       "Fan, Cao, Almeida, Broder 2000 (Summary Cache); occupancy: Bose et al. 2008", bloom},
      {"bloom-best-num-hashes", "--m --n", "the integer k next to (m/n) ln 2 with the lower rate",
       "Fan, Cao, Almeida, Broder 2000", bloom_best_k},
      {"bloom-best-false-positive-rate", "--m --n", "0.6185^(m/n), at the real k = (m/n) ln 2",
       "Fan, Cao, Almeida, Broder 2000", bloom_best_rate},
      {"blocked-bloom-false-positive-rate", "--m --k --n [--line-bits] [--approximate]",
       "all k positions in one line: the rate of one line, averaged over a binomial number of keys in it",
       "after Putze, Sanders, Singler 2007", blocked},
      {"blocked-bloom-best-num-hashes", "--m --n [--line-bits]",
       "the k with the lowest rate of a blocked filter", "after Putze, Sanders, Singler 2007",
       blocked_best_k},
      {"register-blocked-bloom-false-positive-rate", "--m --k --n [--line-bits]",
       "as many positions in each word of 64 bits of one line: the rate of one line, averaged over a "
       "binomial "
       "number of keys in it",
       "after Putze, Sanders, Singler 2007", register_blocked},
      {"partition-double-false-positive-rate", "[--p] [--m] --k --n",
       "double hashing into k parts of p bits, p prime: exact at every n",
       "Kirsch, Mitzenmacher 2008, section 3", partition_double},
      {"counter-overflow", "--m --k --n --limit",
       "bound m C(nk, i) / m^i on Pr(some counter reaches i), and other bounds",
       "Fan, Cao, Almeida, Broder 2000", overflow},
      {"expected-largest-counter", "--m --k --n", "asymptotic mean of the largest counter: a rough guide",
       "Fan, Cao, Almeida, Broder 2000", largest_counter},
      {"inverse-gamma", "--x", "the y >= 2 with Gamma(y) = x", "Fan, Cao, Almeida, Broder 2000",
       inverse_gamma},
      {"threshold-false-positive-rate", "--theta --k --n --m [--exact] [--true-count]",
       "P(theta - t, k n / m)^k for a key that occurred t times, and n independent insertions; exact: "
       "binomial instead of Poisson",
       "Kim, Jeong, Lee, Lee 2019, equations 3 and 2", threshold},
      {"threshold-best-num-hashes", "--theta --n --m",
       "the integer k next to kappa* m / n with the lower rate", "Kim, Jeong, Lee, Lee 2019, Theorem 1",
       threshold_best_k},
      {"kappa-star", "--theta", "the best mean of a counter, k n / m; ln_c: the best rate is exp(ln_c m / n)",
       "Kim, Jeong, Lee, Lee 2019, section 3.2", kappa_star},
      {"threshold-g", "--theta --kappa", "g = P ln P + kappa dP/dkappa, whose zero is kappa*; y1 and y2",
       "Kim, Jeong, Lee, Lee 2019, Lemmas 1 to 5", g_function},
      {"compound-threshold-false-positive-rate",
       "--theta --k --m [--true-count] [--histogram] [--zipf] [--ranks] [--insertions]",
       "the same for keys that repeat unevenly: a counter is a compound Poisson sum",
       "Panjer 1981; beyond Kim et al. 2019", compound},
      {"distinct-keys-estimate", "--m --k --zeros", "-(m/k) ln(zeros/m), from the positions that are still 0",
       "Whang, Vander-Zanden, Taylor 1990", distinct_keys},
      {"similarity", "--m --k --occupied-a --occupied-b --occupied-either [--line-bits]",
       "Jaccard's index of two sets, and more, from the positions above 0 in their filters (--line-bits: "
       "blocked ones)",
       "Swamidass, Baldi 2007; beyond the papers", similarity},
      {"poisson-tail", "--theta --kappa [--lower]", "Pr(Poisson(kappa) >= theta); lower: < theta", "",
       poisson},
      {"binomial-tail", "--theta --trials --probability [--lower]",
       "Pr(Binomial(trials, probability) >= theta); lower: < theta", "", binomial},
      {"binomial-confidence-limits", "--successes --trials --confidence",
       "exact two-sided limits for an unknown probability; value: the measured share",
       "Clopper, Pearson 1934", confidence_limits},
  };
  const auto insert_before = [&](std::string_view name, const std::vector<Formula>& more) {
    const auto position = std::find_if(table.begin(), table.end(),
                                       [&](const Formula& formula) { return formula.name == name; });
    table.insert(position, more.begin(), more.end());
  };
  insert_before("counter-overflow", double_hashing_formulas());
  insert_before("expected-largest-counter", saturation_formulas());
  insert_before("distinct-keys-estimate", dleft_formulas());
  insert_before("distinct-keys-estimate", count_min_formulas());
  insert_before("dleft-load", conservative_formulas());
  insert_before("distinct-keys-estimate", summary_formulas());
  insert_before("distinct-keys-estimate", share_formulas());
  return table;
}

}  // namespace

const std::vector<Formula>& formulas() {
  static const std::vector<Formula> table = all_formulas();
  return table;
}

const std::vector<ParameterText>& parameter_table() {
  using enum ParameterType;
  static const std::vector<ParameterText> table{
      {"m", count, "Positions: bits or counters"},
      {"k", count, "Hash functions"},
      {"n", count, "Distinct keys; for thresholds: insertions"},
      {"p", count, "Bits in one part, a prime"},
      {"theta", count, "Count threshold"},
      {"true-count", count, "True count of the queried key (default: 0)"},
      {"limit", count, "Counter value that should not be reached"},
      {"line-bits", count, "Bits per line of a blocked filter (default: 512)"},
      {"line-counters", count, "Counters per line of a blocked filter: 128 of 4 bits (default: not blocked)"},
      {"zeros", count, "Positions that are 0"},
      {"occupied-a", count, "Positions above 0 in the filter of the first set"},
      {"occupied-b", count, "Positions above 0 in the filter of the second set"},
      {"occupied-either", count, "Positions above 0 in at least one of the two"},
      {"w", count, "Counters per row of a Count-Min sketch"},
      {"depth", count, "Rows"},
      {"copies", count, "Copies of all rows, each with its own hashes (default: 1)"},
      {"ranks", count, "Number of keys to draw from by Zipf's law"},
      {"insertions", count, "Insertions of all keys together"},
      {"trials", count, "Trials"},
      {"successes", count, "Successes among the trials"},
      {"queries", count, "Queries for keys that were never inserted"},
      {"d", count, "Subtables of a d-left table"},
      {"buckets", count, "Buckets per subtable"},
      {"cells", count, "Cells per bucket"},
      {"remainder-bits", count, "Bits per remainder, if all 2^r values are used"},
      {"remainder-values", count, "Number of values of a remainder: 2^r - 1 if 0 means an empty cell"},
      {"operations", count, "Deletions of a random key, each followed by an insertion"},
      {"count", count, "Number of times that each key is inserted (default: 1)"},
      {"largest", count, "Largest count of a cell"},
      {"removed", count, "Keys removed since the previous message"},
      {"added", count, "Keys added since the previous message"},
      {"shares", count, "Shares over which the keys are divided"},
      {"blocks", count, "Blocks of a request that follow those which a peer holds"},
      {"peers", count, "Peers with copies of their own (default: 1)"},
      {"share-keys", count, "Largest number of keys that a share has room for"},
      {"load", real, "Average load: distinct fingerprints per bucket"},
      {"steps", real, "Delete-and-insert steps per element after the table is filled"},
      {"saturated-share", real, "Share of the counters that are saturated"},
      {"share", real, "Share of the buckets (default: 1e-9)"},
      {"failure-probability", real,
       "Probability of any overflow in a lifetime, of a count that is too high by more than epsilon, or of a "
       "larger "
       "share"},
      {"kappa", real, "Mean of a counter, k n / m"},
      {"epsilon", real,
       "Distance from the limit rate, or error of a count as a share of the sum of all counts"},
      {"rate", real, "False positive rate of a copy"},
      {"bias", real, "Distance of the mean rate from the limit rate (default: 0)"},
      {"insertion-rate", real, "Keys added per second"},
      {"removal-rate", real, "Keys removed per second (default: the number added)"},
      {"new-share", real, "Send when this share of the keys is new; 0 sends at once"},
      {"interval", real, "Send after this number of seconds"},
      {"max-bytes", real, "Send when the message has this number of bytes"},
      {"header-bytes", real, "Constant bytes of a message (default: 0)"},
      {"bytes-per-change", real, "Bytes of a message per added or removed key (default: 0)"},
      {"delay", real, "Seconds from sending a message until it is applied (default: 0)"},
      {"popularity", real, "Requests for a new key, relative to those for an average key (default: 1)"},
      {"removed-popularity", real,
       "Requests for a removed key, relative to those for an average key (default: 1)"},
      {"x", real, "Argument"},
      {"zipf", real, "Exponent of Zipf's law"},
      {"probability", real, "Probability of a success"},
      {"confidence", real, "Confidence, such as 0.999"},
      {"histogram", file, "File with lines of two numbers: a count, and the number of keys with that count"},
      {"exact", flag, "Use the exact form"},
      {"approximate", flag, "Use the usual approximation"},
      {"occupancy", flag, "Use the exact distribution of occupied positions (k^2 n up to 2^31)"},
      {"expansion", flag, "Use the first terms of the exact distribution of occupied positions"},
      {"partitioned", flag, "Use k parts of m/k bits"},
      {"double", flag, "Use double hashing"},
      {"quadratic", flag, "Use enhanced double hashing with i^2"},
      {"cubic", flag, "Use enhanced double hashing with i^3"},
      {"triple", flag, "Use triple hashing"},
      {"two-hash", flag, "Use rows h1 + j h2, from two hashes per copy"},
      {"partition", flag, "Use double hashing, with position i in part i of k parts of m/k bits"},
      {"lower", flag, "Calculate the lower tail"},
      {"any-time", flag, "Keys are removed at any time, not only when one is added"},
      {"churn", flag, "Steady state of many delete-and-insert steps, instead of the filled table"},
  };
  return table;
}

}  // namespace tally::cli

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "commands/formulas.hpp"
#include "input/sample.hpp"
#include "tally/theory/conservative_update.hpp"

namespace tally::cli {

theory::CountHistogram histogram_of(const Arguments& arguments, std::string_view formula,
                                    std::uint64_t limit) {
  const bool by_zipf = arguments.has("zipf") && arguments.has("ranks") && arguments.has("insertions");
  if (by_zipf == arguments.has("histogram")) {
    throw std::invalid_argument(std::string(formula) +
                                ": give --histogram, or --zipf with --ranks and --insertions");
  }
  return by_zipf ? theory::zipf_count_histogram(arguments.count("ranks"), arguments.real("zipf"),
                                                arguments.count("insertions"), limit)
                 : read_histogram(arguments.files.find("histogram")->second, limit);
}

namespace {

constexpr std::uint64_t longest_histogram = 10'000;

FormulaResult conservative_rate(const Arguments& arguments) {
  const std::uint64_t theta = arguments.count("theta");
  // How frequent the keys above theta are matters too: they are there early.
  const std::uint64_t limit =
      std::max(theta, std::min<std::uint64_t>(longest_histogram, 16 * std::min(theta, longest_histogram)));
  const theory::CountHistogram histogram = histogram_of(arguments, "conservative-false-positive-rate", limit);
  const std::uint32_t k = arguments.small_count("k");
  const std::uint64_t m = arguments.count("m");
  const std::uint64_t true_count = arguments.count_or("true-count", 0);
  const double ln_rate =
      theory::ln_conservative_threshold_false_positive_probability(histogram, theta, k, m, true_count);
  return {
      std::exp(ln_rate),
      ln_rate,
      {{"plain", theory::compound_threshold_false_positive_probability(histogram, theta, k, m, true_count)},
       {"distinct_keys", histogram.num_distinct()}}};
}

FormulaResult conservative_excess(const Arguments& arguments) {
  const theory::CountHistogram histogram =
      histogram_of(arguments, "conservative-mean-excess", longest_histogram);
  return {theory::conservative_mean_excess(histogram, arguments.small_count("k"), arguments.count("m"),
                                           arguments.count_or("true-count", 0)),
          std::nullopt,
          {{"distinct_keys", histogram.num_distinct()}}};
}

}  // namespace

std::vector<Formula> conservative_formulas() {
  return {
      {"conservative-false-positive-rate",
       "--theta --k --m [--true-count] [--histogram] [--zipf] [--ranks] [--insertions]",
       "Pr(a key that occurred t times is reported >= theta) with conservative update, if insertions come in "
       "random order: an approximation; plain: with plain update",
       "ours; uniform case: Bianchi, Duffy, Leith, Shneer 2012", conservative_rate},
      {"conservative-mean-excess", "--k --m [--true-count] [--histogram] [--zipf] [--ranks] [--insertions]",
       "by how much the count of a key that occurred t times is too high on average, with conservative "
       "update "
       "and insertions in random order: an approximation; for a Count-Min sketch k is the depth, and m all "
       "its counters",
       "ours", conservative_excess},
  };
}

}  // namespace tally::cli

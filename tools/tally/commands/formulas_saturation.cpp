#include <cmath>
#include <stdexcept>

#include "commands/formulas.hpp"
#include "input/sample.hpp"
#include "tally/theory/counter_saturation.hpp"

namespace tally::cli {
namespace {

std::uint64_t num_lines_of(const Arguments& arguments, std::uint32_t B) {
  const std::uint64_t m = arguments.count("m");
  if (B == 0 || m % B != 0) {
    throw std::invalid_argument("--m is " + std::to_string(m) + "; must be a multiple of --line-counters, " +
                                std::to_string(B));
  }
  return m / B;
}

FormulaResult saturated_counters(const Arguments& arguments) {
  const std::uint64_t m = arguments.count("m");
  const std::uint32_t k = arguments.small_count("k");
  const std::uint64_t i = arguments.count("limit");
  const std::uint64_t N = arguments.count_or("operations", 0);
  if (arguments.has("histogram") == arguments.has("n"))
    throw std::invalid_argument("saturated-counters: give one of --histogram and --n");
  const bool is_blocked = arguments.has("line-counters");
  const std::uint32_t B = arguments.small_count_or("line-counters", 1);
  FormulaResult result;
  if (arguments.has("histogram")) {
    const theory::CountHistogram histogram = read_histogram(arguments.files.find("histogram")->second, i);
    result.value = is_blocked ? theory::blocked_compound_expected_saturated_counters(
                                    histogram, num_lines_of(arguments, B), B, k, i, N)
                              : theory::compound_expected_saturated_counters(histogram, k, m, i, N);
    return result;
  }
  const std::uint64_t n = arguments.count("n");
  if (is_blocked) {
    const std::uint64_t num_lines = num_lines_of(arguments, B);
    result.value = theory::blocked_expected_saturated_counters(num_lines, B, k, n, i, N);
    result.fields.emplace_back("per_operation",
                               theory::blocked_counter_saturation_rate(num_lines, B, k, n, i));
    return result;
  }
  result.value = theory::expected_saturated_counters(m, k, n, i, N);
  result.fields.emplace_back("per_operation", theory::counter_saturation_rate(m, k, n, i));
  const auto keys = static_cast<double>(n);
  const double kappa = k * keys / static_cast<double>(m);
  if (kappa > 0 && kappa <= 1000 && i <= 65535) {
    const double share = theory::saturated_share(kappa, i, static_cast<double>(N) / keys);
    result.fields.emplace_back("of_random_keys", share * static_cast<double>(m));
  }
  return result;
}

FormulaResult saturated_rate(const Arguments& arguments) {
  const double ln_value = theory::ln_saturated_false_positive_probability(
      arguments.count("m"), arguments.small_count("k"), arguments.count("n"),
      arguments.real("saturated-share"));
  return {std::exp(ln_value), ln_value};
}

}  // namespace

std::vector<Formula> saturation_formulas() {
  return {
      {"saturated-counters", "--m --k --limit [--n] [--histogram] [--operations] [--line-counters]",
       "bound on the expected number of counters that reach their maximum, the limit, and stay there: when n "
       "keys (or those of the histogram) are inserted, and over the operations; of_random_keys: nearly the "
       "expected number, if random keys are removed",
       "ours; without operations after Fan, Cao, Almeida, Broder 2000", saturated_counters},
      {"saturated-false-positive-rate", "--m --k --n --saturated-share",
       "(1 - (1 - s) (1 - 1/m)^(k n))^k, if a share s of the counters is saturated", "ours", saturated_rate},
  };
}

}  // namespace tally::cli

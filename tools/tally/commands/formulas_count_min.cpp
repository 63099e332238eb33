#include <cmath>
#include <stdexcept>

#include "commands/formulas.hpp"
#include "tally/theory/count_min.hpp"

namespace tally::cli {
namespace {

FormulaResult failure_probability(const Arguments& arguments) {
  const std::uint64_t w = arguments.count("w");
  const std::uint32_t depth = arguments.small_count("depth");
  const double epsilon = arguments.real("epsilon");
  if (arguments.has("copies") && !arguments.has("two-hash"))
    throw std::invalid_argument("count-min-failure-probability: --copies is for --two-hash");
  const double ln_bound = arguments.has("two-hash")
                              ? theory::ln_count_min_two_hash_failure_probability(
                                    w, depth, epsilon, arguments.small_count_or("copies", 1))
                              : theory::ln_count_min_failure_probability(w, depth, epsilon);
  return {std::exp(ln_bound), ln_bound};
}

FormulaResult size(const Arguments& arguments) {
  const double epsilon = arguments.real("epsilon");
  const double delta = arguments.real("failure-probability");
  const auto sized = [](std::uint64_t w, std::uint32_t depth, std::uint32_t num_copies) {
    const double counters = static_cast<double>(w) * depth * num_copies;
    return FormulaResult{counters,
                         std::nullopt,
                         {{"width", static_cast<double>(w)},
                          {"depth", static_cast<double>(depth)},
                          {"copies", static_cast<double>(num_copies)}}};
  };
  if (arguments.has("two-hash")) {
    return sized(theory::count_min_two_hash_width(epsilon), theory::count_min_two_hash_depth(epsilon),
                 theory::count_min_two_hash_copies(epsilon, delta));
  }
  return sized(theory::count_min_width(epsilon), theory::count_min_depth(delta), 1);
}

}  // namespace

std::vector<Formula> count_min_formulas() {
  return {
      {"count-min-failure-probability", "--w --depth --epsilon [--two-hash] [--copies]",
       "bound (1/(w epsilon))^depth on Pr(a count is too high by more than epsilon of the sum); two-hash: "
       "rows h1 + j h2, (2/(epsilon w^2) + (2/(w epsilon))^depth)^copies",
       "Cormode, Muthukrishnan 2003; two-hash: Kirsch, Mitzenmacher 2008, Theorem 9.1", failure_probability},
      {"count-min-size", "--epsilon --failure-probability [--two-hash]",
       "number of counters of a sketch with ceil(e/epsilon) columns and ceil(ln(1/delta)) rows; two-hash: of "
       "as many copies as Theorem 9.1 needs",
       "Cormode, Muthukrishnan 2003; two-hash: Kirsch, Mitzenmacher 2008, section 9", size},
  };
}

}  // namespace tally::cli

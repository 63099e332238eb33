#include <cmath>
#include <optional>
#include <stdexcept>

#include "commands/formulas.hpp"
#include "input/sample.hpp"
#include "tally/theory/dleft_few_buckets.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_moves_limit.hpp"
#include "tally/theory/dleft_orientable_load.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "tally/theory/dleft_placement.hpp"
#include "tally/theory/dleft_safe_load.hpp"
#include "tally/theory/dleft_spills.hpp"

namespace tally::cli {
namespace {

constexpr double default_share = 1e-9;

double steps_per_element(const Arguments& arguments) {
  if (arguments.has("churn") && arguments.has("steps"))
    throw std::invalid_argument("give one of --churn (the steady state) and --steps (a number of steps)");
  if (arguments.has("churn")) return theory::steady_state;
  return arguments.has("steps") ? arguments.real("steps") : theory::insert_only;
}

theory::DLeftLoads loads_asked_for(const Arguments& arguments) {
  return theory::dleft_loads(arguments.small_count("d"), arguments.real("load"),
                             steps_per_element(arguments));
}

std::uint64_t remainder_values(const Arguments& arguments) {
  if (arguments.has("remainder-bits") == arguments.has("remainder-values"))
    throw std::invalid_argument("give one of --remainder-bits and --remainder-values");
  if (arguments.has("remainder-values")) return arguments.count("remainder-values");
  const std::uint64_t bits = arguments.count("remainder-bits");
  if (bits > 63) {
    throw std::invalid_argument("--remainder-bits is " + std::to_string(bits) + "; must be 0 to 63");
  }
  return std::uint64_t{1} << bits;
}

FormulaResult expected_load(const Arguments& arguments) {
  const theory::DLeftLoads loads = loads_asked_for(arguments);
  std::vector<double> fractions;
  for (std::uint64_t i = 1; loads.fraction(i) > 0.0; ++i) fractions.push_back(loads.fraction(i));
  FormulaResult result;
  std::uint64_t cells = 0;
  while (loads.fraction(cells + 1) >= default_share) ++cells;
  result.value = static_cast<double>(cells);
  result.lists.emplace_back("fractions", fractions);
  for (std::size_t j = 0; j < loads.subtables.size(); ++j) {
    const std::vector<double>& subtable = loads.subtables[j];
    result.lists.emplace_back("subtable_" + std::to_string(j + 1),
                              std::vector<double>(subtable.begin() + 1, subtable.end()));
  }
  return result;
}

FormulaResult dleft_rate(const Arguments& arguments) {
  const std::uint64_t B = arguments.count("buckets");
  const std::uint64_t R = remainder_values(arguments);
  const std::uint64_t n = arguments.count("n");
  const double ln_value = theory::ln_dleft_false_positive_probability(B, R, n);
  FormulaResult result{std::exp(ln_value), ln_value};
  result.fields.emplace_back("distinct_fingerprints", theory::dleft_distinct_fingerprints(B, R, n));
  if (arguments.has("d"))
    result.fields.emplace_back("load", theory::dleft_distinct_load(arguments.small_count("d"), B, R, n));
  return result;
}

FormulaResult overflow_probability(const Arguments& arguments) {
  const double ln_value =
      theory::ln_dleft_overflow_probability(loads_asked_for(arguments), arguments.small_count("cells"));
  return {std::exp(ln_value), ln_value};
}

FormulaResult lifetime_overflow(const Arguments& arguments) {
  const theory::DLeftExpectedOverflows expected = theory::dleft_expected_overflows(
      arguments.small_count("d"), arguments.count("buckets"), arguments.small_count("cells"),
      arguments.real("load"), arguments.count("operations"));
  const double sum = expected.filling + expected.churning;
  return {theory::probability_of_any(sum),
          theory::ln_probability_of_any(sum),
          {{"expected_filling", expected.filling}, {"expected_churning", expected.churning}}};
}

FormulaResult few_buckets(const Arguments& arguments) {
  const auto formula =
      arguments.has("churn") ? theory::dleft_overflow_churning : theory::dleft_any_overflow_filling;
  return {formula(arguments.small_count("d"), arguments.count("buckets"), arguments.small_count("cells"),
                  arguments.count("n"))};
}

FormulaResult load_and_fraction(double load, std::uint32_t cells) {
  return {load, std::nullopt, {{"fraction_of_cells", load / cells}}};
}

FormulaResult safe_load(const Arguments& arguments) {
  const std::uint32_t cells = arguments.small_count("cells");
  const double share = arguments.has("share") ? arguments.real("share") : default_share;
  return load_and_fraction(theory::dleft_safe_load_for_share(arguments.small_count("d"), cells, share,
                                                             steps_per_element(arguments)),
                           cells);
}

FormulaResult orientable_load(const Arguments& arguments) {
  const std::uint32_t cells = arguments.small_count("cells");
  return load_and_fraction(theory::dleft_orientable_load(arguments.small_count("d"), cells), cells);
}

FormulaResult moves_limit(const Arguments& arguments) {
  const theory::DLeftMovesLimit limit = theory::dleft_moves_limit(
      arguments.small_count("d"), arguments.small_count("cells"), arguments.real("load"),
      arguments.has("steps") ? arguments.real("steps") : theory::insert_only);
  return {limit.moves_probability,
          std::nullopt,
          {{"full_share", limit.full_share}, {"room_probability", limit.room_probability}}};
}

FormulaResult no_placement_bound(const Arguments& arguments) {
  const double ln_value =
      theory::ln_dleft_no_placement_bound(arguments.small_count("d"), arguments.count("buckets"),
                                          arguments.small_count("cells"), arguments.count("n"));
  return {std::exp(ln_value), ln_value};
}

FormulaResult lifetime_safe_load(const Arguments& arguments) {
  const std::uint32_t cells = arguments.small_count("cells");
  return load_and_fraction(
      theory::dleft_safe_load(arguments.small_count("d"), arguments.count("buckets"), cells,
                              arguments.count("operations"), arguments.real("failure-probability")),
      cells);
}

FormulaResult counter_overflow(const Arguments& arguments) {
  const std::uint64_t B = arguments.count("buckets");
  const std::uint64_t R = remainder_values(arguments);
  const std::uint64_t n = arguments.count("n");
  const std::uint64_t i = arguments.count("limit");
  const double ln_value = theory::ln_dleft_shared_fingerprint_bound(B, R, n, i);
  FormulaResult result{std::exp(ln_value), ln_value};
  if (arguments.has("operations")) {
    result.fields.emplace_back("expected_churning", theory::dleft_expected_shared_insertions(
                                                        B, R, n, i, arguments.count("operations")));
  }
  return result;
}

/// Keys that are `count` times (default: once) in the filter each, or those of a histogram.
FormulaResult spills(const Arguments& arguments) {
  const std::uint64_t largest = arguments.count("largest");
  if (arguments.has("histogram") == arguments.has("n"))
    throw std::invalid_argument("dleft-spills: give one of --histogram and --n");
  const theory::CountHistogram histogram =
      arguments.has("histogram")
          ? read_histogram(arguments.files.find("histogram")->second, largest + 1)
          : theory::make_count_histogram(
                {{arguments.count_or("count", 1), static_cast<double>(arguments.count("n"))}}, largest + 1);
  const std::uint64_t B = arguments.count("buckets");
  const std::uint64_t R = remainder_values(arguments);
  FormulaResult result{theory::dleft_expected_spills(histogram, B, R, largest)};
  const double bound = theory::dleft_expected_spills_bound(histogram, B, R, largest);
  result.fields.emplace_back("bound", bound);
  const std::uint64_t N = arguments.count_or("operations", 0);
  result.fields.emplace_back("expected_most", theory::dleft_expected_most_spills(bound, N));
  if (arguments.has("failure-probability")) {
    result.fields.emplace_back("capacity", static_cast<double>(theory::dleft_spill_capacity(
                                               bound, N, arguments.real("failure-probability"))));
  }
  return result;
}

}  // namespace

std::vector<Formula> dleft_formulas() {
  return {
      {"dleft-load", "--d --load [--churn] [--steps]",
       "fluid limit of d-left hashing: the fractions of all buckets, and of those of each subtable, with "
       "load >= 1, 2, ...; value: the number of cells per bucket so that fewer than 1e-9 of the buckets "
       "need more",
       "Bonomi et al. 2006, section 2.3", expected_load},
      {"dleft-overflow-probability", "--d --cells --load [--churn] [--steps]",
       "probability that an insertion finds all its d buckets full: prod_j x_{j,cells}; without moves",
       "after Bonomi et al. 2006, section 5.2", overflow_probability},
      {"dleft-lifetime-overflow", "--d --buckets --cells --load --operations",
       "probability that any insertion fails while the table is filled and during the following "
       "delete-and-insert operations",
       "after Bonomi et al. 2006, section 5.2", lifetime_overflow},
      {"dleft-few-buckets", "--d --buckets --cells --n [--churn]",
       "probability that any of n insertions into a small table finds all its d buckets full, exactly; with "
       "--churn, that a replacement does, in the steady state; without moves",
       "ours", few_buckets},
      {"dleft-safe-load", "--d --cells [--churn] [--steps] [--share]",
       "the largest load, in elements per bucket, at which at most this share of the buckets needs more than "
       "its cells; without moves",
       "based on the fluid limit", safe_load},
      {"dleft-lifetime-safe-load", "--d --buckets --cells --operations --failure-probability",
       "the largest load at which dleft-lifetime-overflow is at most the failure probability",
       "based on the fluid limit", lifetime_safe_load},
      {"dleft-moves", "--d --cells --load [--steps]",
       "probability that an insertion needs moves, at a load in elements per bucket; with the share of full "
       "buckets and "
       "the probability that a bucket at which a search looks has room; an approximation",
       "ours", moves_limit},
      {"dleft-no-placement", "--d --buckets --cells --n",
       "bound on the probability that n elements cannot all be placed, whatever is moved",
       "ours, by Hall's theorem", no_placement_bound},
      {"dleft-orientable-load", "--d --cells",
       "the largest load at which a large table has a placement, if elements may be moved without limit",
       "Fountoulakis, Khosla, Panagiotou 2011", orientable_load},
      {"dleft-false-positive-rate", "--buckets [--remainder-bits] [--remainder-values] --n [--d]",
       "1 - (1 - 1/(B R))^n; with d, also the load of distinct fingerprints, which other formulas need",
       "Bonomi et al. 2006, section 3.2", dleft_rate},
      {"dleft-counter-overflow",
       "--buckets [--remainder-bits] [--remainder-values] --n --limit [--operations]",
       "bound C(n, i) / (B R)^(i - 1) on Pr(i keys share a fingerprint), where i is the limit; with "
       "operations, also the expected number of delete-and-insert steps that end there",
       "Bonomi et al. 2006, section 5.1, corrected", counter_overflow},
      {"dleft-spills",
       "--buckets [--remainder-bits] [--remainder-values] --largest [--n] [--count] [--histogram] "
       "[--operations] [--failure-probability]",
       "expected number of fingerprints whose count exceeds the largest one of a cell, in the side table; "
       "and a "
       "bound on the expected largest number over the operations; with a failure probability, also the "
       "capacity that is exceeded at any time with at most that probability",
       "ours", spills},
  };
}

}  // namespace tally::cli

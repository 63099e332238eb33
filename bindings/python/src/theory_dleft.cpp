#include "formula.hpp"
#include "theory_parts.hpp"

namespace tally::python {

void define_theory_dleft(py::module_& module) {
  formula(module, "dleft_false_positive_probability(B, R, n)", theory::dleft_false_positive_probability,
          "1 - (1 - 1/(B R))^n, exact for every way of storing the fingerprints. B buckets per subtable, R\n"
          "remainders in use, n distinct keys. Source: Bonomi et al. 2006, section 3.2.");
  formula(module, "ln_dleft_false_positive_probability(B, R, n)", theory::ln_dleft_false_positive_probability,
          "The natural logarithm of dleft_false_positive_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "dleft_distinct_fingerprints(B, R, n)", theory::dleft_distinct_fingerprints,
          "B R (1 - (1 - 1/(B R))^n): the expected number of distinct fingerprints. B buckets per subtable,\n"
          "R remainders in use, n distinct keys. Source: Bonomi et al. 2006.");
  formula(
      module, "dleft_distinct_load(d, B, R, n)", theory::dleft_distinct_load,
      "dleft_distinct_fingerprints / (d B): expected cells in use per bucket, with d subtables (1 to 8).\n"
      "B buckets per subtable, R remainders in use, n distinct keys. Source: Bonomi et al. 2006.");
  formula(module, "dleft_shared_fingerprint_bound(B, R, n, i)", theory::dleft_shared_fingerprint_bound,
          "C(n, i) / (B R)^(i - 1): bound on the probability that some fingerprint is shared by at least i\n"
          "keys (1 to 2^40); at most 1. B buckets per subtable, R remainders in use, n distinct keys.\n"
          "Source: Bonomi et al. 2006, section 5.1, corrected.");
  formula(module, "ln_dleft_shared_fingerprint_bound(B, R, n, i)", theory::ln_dleft_shared_fingerprint_bound,
          "The natural logarithm of dleft_shared_fingerprint_bound; -inf for 0, and finite where that\n"
          "underflows.");
  formula(
      module, "dleft_expected_shared_insertions(B, R, n, i, N)", theory::dleft_expected_shared_insertions,
      "N Pr(Binomial(n - 1, 1/(B R)) >= i - 1): the expected number of N replacements after which the\n"
      "new key shares its fingerprint with at least i - 1 others. i 1 to 2^40. B buckets per subtable, R\n"
      "remainders in use, n distinct keys (at least 1). Source: ours.");
  formula(module, "ln_dleft_expected_shared_insertions(B, R, n, i, N)",
          theory::ln_dleft_expected_shared_insertions,
          "The natural logarithm of dleft_expected_shared_insertions; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "dleft_loads(d, average_load, steps_per_element)", theory::dleft_loads,
          "The fluid limit of a d-left table (d 1 to 8) at average_load elements per bucket (0 to 256),\n"
          "after steps_per_element replacements (0: insertions only; math.inf: steady state), as\n"
          "DLeftLoads. Source: Bonomi et al. 2006, section 2.3.");
  formula(module, "ln_dleft_overflow_probability(loads, c)", theory::ln_dleft_overflow_probability,
          "The natural logarithm of dleft_overflow_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "dleft_overflow_probability(loads, c)", theory::dleft_overflow_probability,
          "prod_j x_{j,c}: the probability that an insertion finds all its buckets of c cells (1 to 255)\n"
          "full. loads: DLeftLoads from dleft_loads. Source: ours; Bonomi et al. 2006, section 5.2.");
  formula(
      module, "dleft_expected_overflows_filling(loads, B, c)", theory::dleft_expected_overflows_filling,
      "d B sum_{i>c} x_i: expected insertions that find no room while B buckets per subtable of c cells\n"
      "(1 to 255) are filled. loads: DLeftLoads from dleft_loads with steps_per_element 0. Source: ours.");
  formula(
      module, "dleft_expected_overflows(d, B, c, average_load, N)", theory::dleft_expected_overflows,
      "Expected insertions that find no room over a lifetime: filling to average_load (0 to 256 elements\n"
      "per bucket), then N replacements, as DLeftExpectedOverflows. d subtables (1 to 8) of B buckets of\n"
      "c cells (1 to 255). Source: ours.");
  formula(module, "probability_of_any(expected)", theory::probability_of_any,
          "1 - exp(-expected): the probability of at least one rare event, where expected (at least 0)\n"
          "events are expected.");
  formula(module, "ln_probability_of_any(expected)", theory::ln_probability_of_any,
          "The natural logarithm of probability_of_any; -inf for 0, and finite where that underflows.");
  formula(module, "dleft_any_overflow_filling(d, B, c, n)", theory::dleft_any_overflow_filling,
          "The probability that any of n insertions into an empty table finds its d buckets full, exactly.\n"
          "d subtables (1 to 8) of B buckets (1 to 12) of c cells (1 to 255) with at most 2^18 states; n at\n"
          "most d B c. Source: ours.");
  formula(
      module, "dleft_overflow_churning(d, B, c, n)", theory::dleft_overflow_churning,
      "The probability that a replacement of one of n elements (at least 1) finds no room, in the steady\n"
      "state, exactly; as dleft_any_overflow_filling. Source: ours.");
  formula(module, "dleft_safe_load_for_share(d, c, share, steps_per_element)",
          theory::dleft_safe_load_for_share,
          "The largest average load, in elements per bucket, at which at most this share of the buckets, in\n"
          "(0, 1), would have more than c elements (1 to 255). d subtables (1 to 8); steps_per_element as\n"
          "for dleft_loads. Source: ours, over the fluid limit of Bonomi et al. 2006.");
  formula(module, "dleft_moves_limit(d, c, average_load, steps_per_element)", theory::dleft_moves_limit,
          "A table that makes room by moves, in the limit of many buckets, as DLeftMovesLimit. d subtables\n"
          "(2 to 8) with c cells per bucket (1 to 64, d c at most 256) at average_load elements per bucket,\n"
          "above 0 and below dleft_orientable_load; steps_per_element replacements after the filling (0 to\n"
          "16). An approximation. Source: ours.");
  formula(module, "dleft_orientable_load(d, c)", theory::dleft_orientable_load,
          "The largest average load, in elements per bucket, at which a large table of d subtables (2 to 8)\n"
          "with c cells per bucket (1 to 255) has a placement of all elements, if elements may be moved\n"
          "without limit. Source: Fountoulakis, Khosla and Panagiotou 2011.");
  formula(module, "dleft_no_placement_bound(d, B, c, n)", theory::dleft_no_placement_bound,
          "Upper bound on the probability that n elements cannot all be placed in a table of d subtables\n"
          "(2 to 8) of B buckets (1 to 2^20) with c cells (1 to 255), whatever is moved. A theorem.\n"
          "Source: ours, by Hall's theorem.");
  formula(module, "ln_dleft_no_placement_bound(d, B, c, n)", theory::ln_dleft_no_placement_bound,
          "The natural logarithm of dleft_no_placement_bound; -inf for 0, and finite where that underflows.");
  formula(
      module, "dleft_expected_spills(histogram, B, R, largest)", theory::dleft_expected_spills,
      "B R Pr(S > largest): the expected number of fingerprints in the side table, those whose keys' counts\n"
      "have a sum S above the largest count of a cell (1 to 9999). histogram: a CountHistogram of the\n"
      "keys. B buckets per subtable, R remainders in use. Source: ours.");
  formula(
      module, "dleft_expected_spills_bound(histogram, B, R, largest)", theory::dleft_expected_spills_bound,
      "An upper bound of dleft_expected_spills that does not rise with B R, if that is at least the number\n"
      "of keys. histogram: a CountHistogram of the keys. B buckets per subtable, R remainders in use,\n"
      "largest 1 to 9999. Source: ours.");
  formula(module, "dleft_spills_tail(expected, capacity, N)", theory::dleft_spills_tail,
          "(N + 1) exp(x - e - x ln(x / e)), x = capacity + 1, e = expected: bound on the probability that\n"
          "there are ever more than capacity fingerprints in the side table over N replacements; at most 1.\n"
          "expected 0 to 2^53. Source: ours.");
  formula(module, "ln_dleft_spills_tail(expected, capacity, N)", theory::ln_dleft_spills_tail,
          "The natural logarithm of dleft_spills_tail; -inf for 0, and finite where that underflows.");
  formula(module, "dleft_spill_capacity(expected, N, failure_probability)", theory::dleft_spill_capacity,
          "The least capacity with a dleft_spills_tail of at most failure_probability, in (0, 1), over N\n"
          "replacements. expected 0 to 2^53. Source: ours.");
  formula(module, "dleft_expected_most_spills(expected, N)", theory::dleft_expected_most_spills,
          "Bound on the expected largest number of fingerprints in the side table over N replacements.\n"
          "expected 0 to 2^53. Source: ours.");
  formula(module, "dleft_safe_load(d, B, c, N, failure_probability)", theory::dleft_safe_load,
          "The largest average load, in elements per bucket, with which any insertion finds no room with a\n"
          "probability of at most failure_probability, in (0, 1), over a lifetime: filling, then N\n"
          "replacements. d subtables (1 to 8) of B buckets of c cells (1 to 255). Source: ours, over the\n"
          "fluid limit of Bonomi et al. 2006.");
}

}  // namespace tally::python

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
          "Expected number of distinct fingerprints, B R (1 - (1 - 1/(B R))^n). B buckets per subtable, R\n"
          "remainders in use, n distinct keys.");
  formula(module, "dleft_distinct_load(d, B, R, n)", theory::dleft_distinct_load,
          "Expected cells in use per bucket, with d subtables (1 to 8). B buckets per subtable, R\n"
          "remainders in use, n distinct keys.");
  formula(module, "dleft_shared_fingerprint_bound(B, R, n, i)", theory::dleft_shared_fingerprint_bound,
          "Bound on the probability that some fingerprint is shared by at least i keys: C(n, i) / (B R)^(i\n"
          "- 1). B buckets per subtable, R remainders in use, n distinct keys. Source: Bonomi et al. 2006,\n"
          "section 5.1, corrected.");
  formula(module, "ln_dleft_shared_fingerprint_bound(B, R, n, i)", theory::ln_dleft_shared_fingerprint_bound,
          "The natural logarithm of dleft_shared_fingerprint_bound; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "dleft_expected_shared_insertions(B, R, n, i, N)", theory::dleft_expected_shared_insertions,
          "Expected number of N replacements after which the new key shares its fingerprint with at least i\n"
          "- 1 others. B buckets per subtable, R remainders in use, n distinct keys. Source: ours.");
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
          "The probability that an insertion finds all its buckets of c cells full. loads: from\n"
          "dleft_loads. Source: ours.");
  formula(module, "dleft_expected_overflows_filling(loads, B, c)", theory::dleft_expected_overflows_filling,
          "Expected insertions that find no room while B buckets per subtable are filled to `loads`, which\n"
          "dleft_loads gave for insertions only.");
  formula(module, "dleft_expected_overflows(d, B, c, average_load, N)", theory::dleft_expected_overflows,
          "Expected insertions that find no room over a life: filling to average_load, then N replacements,\n"
          "as DLeftExpectedOverflows.");
  formula(module, "probability_of_any(expected)", theory::probability_of_any,
          "1 - exp(-expected): the probability of at least one rare event.");
  formula(module, "ln_probability_of_any(expected)", theory::ln_probability_of_any,
          "The natural logarithm of probability_of_any; -inf for 0, and finite where that underflows.");
  formula(module, "dleft_safe_load_for_share(d, c, share, steps_per_element)",
          theory::dleft_safe_load_for_share,
          "The largest average load at which at most this share of the buckets would have more than c\n"
          "elements. Source: ours, over the fluid limit.");
  formula(module, "dleft_safe_load(d, B, c, N, failure_probability)", theory::dleft_safe_load,
          "The largest average load with which, over a life of N replacements, any insertion finds no room\n"
          "with at most failure_probability. Source: ours, over the fluid limit.");
}

}  // namespace tally::python

#include "formula.hpp"
#include "theory_parts.hpp"

namespace tally::python {

void define_theory_sets(py::module_& module) {
  formula(module, "binomial_confidence_limits(successes, trials, confidence)",
          theory::binomial_confidence_limits,
          "Two-sided exact limits for an unknown probability from successes in trials, as a\n"
          "ProbabilityInterval. confidence in (0, 1). Source: Clopper and Pearson 1934.");
  formula(module, "binomial_acceptance_interval(p, trials, confidence)", theory::binomial_acceptance_interval,
          "The narrowest interval outside which Binomial(trials, p) falls on each side with at most (1 -\n"
          "confidence)/2, as a CountInterval.");
  formula(module, "normal_deviations(confidence)", theory::normal_deviations,
          "How many standard errors the two-sided limits of a normally distributed estimate are away from\n"
          "it. confidence in (0, 1).");
  formula(module, "per_test_confidence(family_confidence, num_tests)", theory::per_test_confidence,
          "Confidence for each of num_tests tests so that all hold together with family_confidence\n"
          "(Bonferroni).");
  formula(module, "estimate_distinct_keys(m, k, zeros)", theory::estimate_distinct_keys,
          "Distinct keys in a filter of which `zeros` positions are 0, -(m/k) ln(zeros/m), as a\n"
          "DistinctKeysEstimate. Source: Whang, Vander-Zanden and Taylor 1990.");
  formula(module, "estimate_similarity(m, k, occupied)", theory::estimate_similarity,
          "The similarity of two sets from OccupiedPositions of two filters with the same m positions and k\n"
          "hash functions, as a SimilarityEstimate. Source: after Swamidass and Baldi 2007.");
  formula(module, "estimate_similarity_blocked(num_lines, line_bits, k, occupied)",
          theory::estimate_similarity_blocked,
          "The same for blocked Bloom filters of num_lines lines of line_bits bits.");
  formula(module, "estimate_similarity_register_blocked(num_lines, num_words, word_bits, k, occupied)",
          theory::estimate_similarity_register_blocked, "The same for register-blocked Bloom filters.");
  formula(module, "flipped_share(m, k, n, r, a)", theory::flipped_share,
          "Expected share of a Bloom filter's m bits that differ between two messages. n keys, of which r\n"
          "are removed and a others inserted between two messages. Source: ours.");
  formula(module, "flipped_share_approximate(m, k, n, r, a)", theory::flipped_share_approximate,
          "The same for large m. n keys, of which r are removed and a others inserted between two messages.");
  formula(module, "binary_entropy(q)", theory::binary_entropy,
          "H(q) = -q log2 q - (1 - q) log2(1 - q), in bits.");
  formula(module, "least_delta_bits(m, q)", theory::least_delta_bits,
          "m H(q): no code of m independent positions that flip with probability q is shorter on average.");
  formula(module, "rice_bits_per_position(q, b)", theory::rice_bits_per_position,
          "Bits per flipped position in a Rice code with b low bits. Source: Golomb 1966; Rice 1979.");
  formula(module, "best_rice_parameter(q)", theory::best_rice_parameter,
          "The b with the fewest bits. q in (0, 1].");
  formula(module, "rice_delta_bits(m, q)", theory::rice_delta_bits,
          "Expected bits of the m q flipped positions at the best b.");
  formula(module, "dleft_changed_cells(cells, n, r, a)", theory::dleft_changed_cells,
          "Cells of a d-left table that differ between two messages. n keys, of which r are removed and a\n"
          "others inserted between two messages. Source: ours.");
  formula(module, "dleft_delta_bits(cells, changed_cells, cell_bits)", theory::dleft_delta_bits,
          "Bits of a message with this number of changed cells: their indices and new values.");
  formula(module, "dleft_least_delta_bits(cells, n, r, a, remainder_bits)", theory::dleft_least_delta_bits,
          "The fewest bits that a receiver with the previous table must get. n keys, of which r are removed\n"
          "and a others inserted between two messages. Source: ours.");
  formula(module, "summary_staleness(change, limits)", theory::summary_staleness,
          "How stale a replica is on average, and what it costs, as Staleness; change: DirectoryChange,\n"
          "limits: SendLimits. Source: ours, for the policy of Fan et al.");
  formula(module, "ln_poisson_point(x, kappa)", theory::ln_poisson_point, "ln Pr(Poisson(kappa) = x).");
  formula(module, "ln_poisson_upper_tail(theta, kappa)", theory::ln_poisson_upper_tail,
          "ln Pr(Poisson(kappa) >= theta).");
  formula(module, "ln_poisson_lower_tail(theta, kappa)", theory::ln_poisson_lower_tail,
          "ln Pr(Poisson(kappa) < theta).");
  formula(module, "ln_binomial_point(x, trials, p)", theory::ln_binomial_point,
          "ln Pr(Binomial(trials, p) = x). trials: a whole number up to 2^75, as a float.");
  formula(module, "ln_binomial_upper_tail(theta, trials, p)", theory::ln_binomial_upper_tail,
          "ln Pr(Binomial(trials, p) >= theta).");
  formula(module, "ln_binomial_lower_tail(theta, trials, p)", theory::ln_binomial_lower_tail,
          "ln Pr(Binomial(trials, p) < theta).");
  formula(module, "probability_of_larger_share(n, s, c)", theory::probability_of_larger_share,
          "Bound on the probability that the largest of s shares of n keys has more than c: s\n"
          "Pr(Binomial(n, 1/s) > c).");
  formula(module, "ln_probability_of_larger_share(n, s, c)", theory::ln_probability_of_larger_share,
          "The natural logarithm of probability_of_larger_share; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "largest_share(n, s, failure_probability)", theory::largest_share,
          "The least c with probability_of_larger_share(n, s, c) <= failure_probability.");
}

}  // namespace tally::python

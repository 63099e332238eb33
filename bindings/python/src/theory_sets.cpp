#include "formula.hpp"
#include "theory_parts.hpp"

namespace tally::python {

void define_theory_sets(py::module_& module) {
  formula(module, "binomial_confidence_limits(successes, trials, confidence)",
          theory::binomial_confidence_limits,
          "Two-sided exact limits for an unknown probability from successes in trials (at least 1), as a\n"
          "ProbabilityInterval; each is wrong with a probability of at most (1 - confidence)/2. confidence\n"
          "in (0, 1). Source: Clopper and Pearson 1934.");
  formula(
      module, "binomial_acceptance_interval(p, trials, confidence)", theory::binomial_acceptance_interval,
      "The narrowest interval outside which Binomial(trials, p) falls on each side with a probability of\n"
      "at most (1 - confidence)/2, as a CountInterval. p 0 to 1, trials at most 2^40, confidence in (0,\n"
      "1).");
  formula(module, "normal_deviations(confidence)", theory::normal_deviations,
          "How many standard errors the two-sided limits of a normally distributed estimate are away from\n"
          "it. confidence in (0, 1).");
  formula(module, "per_test_confidence(family_confidence, num_tests)", theory::per_test_confidence,
          "1 - (1 - family_confidence)/num_tests: confidence for each of num_tests tests (at least 1) so\n"
          "that all hold together with family_confidence, in (0, 1) (Bonferroni).");
  formula(
      module, "estimate_distinct_keys(m, k, zeros)", theory::estimate_distinct_keys,
      "-(m/k) ln(zeros/m): distinct keys in a filter of which zeros of the m positions are 0, as a\n"
      "DistinctKeysEstimate. k 1 to 1024, zeros at most m. Source: Whang, Vander-Zanden and Taylor 1990.");
  formula(module, "estimate_similarity(m, k, occupied)", theory::estimate_similarity,
          "The similarity of two sets from two filters with the same m positions and k hash functions (1 to\n"
          "1024), as a SimilarityEstimate: |S| = -(m/k) ln(1 - occupied/m) of both and of their union.\n"
          "occupied: OccupiedPositions. Source: after Swamidass and Baldi 2007.");
  formula(module, "estimate_similarity_blocked(num_lines, line_bits, k, occupied)",
          theory::estimate_similarity_blocked,
          "estimate_similarity for blocked Bloom filters of num_lines lines of line_bits bits. k 1 to 1024;\n"
          "occupied: OccupiedPositions. Source: after Swamidass and Baldi 2007.");
  formula(module, "estimate_similarity_register_blocked(num_lines, num_words, word_bits, k, occupied)",
          theory::estimate_similarity_register_blocked,
          "estimate_similarity for register-blocked Bloom filters of num_lines lines of num_words words of\n"
          "word_bits bits. k 1 to 1024, a multiple of num_words; occupied: OccupiedPositions. Source: after\n"
          "Swamidass and Baldi 2007.");
  formula(
      module, "flipped_share(m, k, n, r, a)", theory::flipped_share,
      "z(n - r) (z(r) (1 - z(a)) + z(a) (1 - z(r))), z(j) = (1 - 1/m)^(k j): expected share of a Bloom\n"
      "filter's m bits that differ between two messages. k 1 to 1024. n keys, of which r (at most n) are\n"
      "removed and a others inserted between two messages. Source: ours, from the filter of Fan et al.\n"
      "2000.");
  formula(module, "flipped_share_approximate(m, k, n, r, a)", theory::flipped_share_approximate,
          "flipped_share with z(j) = exp(-k j/m), for large m. k 1 to 1024. n keys, of which r (at most n)\n"
          "are removed and a others inserted between two messages. Source: ours.");
  formula(module, "binary_entropy(q)", theory::binary_entropy,
          "H(q) = -q log2 q - (1 - q) log2(1 - q), in bits. q 0 to 1.");
  formula(module, "least_delta_bits(m, q)", theory::least_delta_bits,
          "m H(q): no code for m independent positions, each of which flipped with probability q (0 to 1),\n"
          "is shorter on average.");
  formula(module, "rice_bits_per_position(q, b)", theory::rice_bits_per_position,
          "b + 1/(1 - (1 - q)^(2^b)): bits per flipped position in a Rice code of the gaps with b low bits\n"
          "(0 to 63). q: share of flipped positions, in (0, 1]. Source: Golomb 1966; Rice 1979.");
  formula(module, "best_rice_parameter(q)", theory::best_rice_parameter,
          "The b with the fewest rice_bits_per_position. q: share of flipped positions, in (0, 1].");
  formula(module, "rice_delta_bits(m, q)", theory::rice_delta_bits,
          "m q rice_bits_per_position at the best b; 0 for q = 0. m positions, q: share of flipped ones, 0\n"
          "to 1.");
  formula(module, "dleft_changed_cells(cells, n, r, a)", theory::dleft_changed_cells,
          "a + V: cells of a d-left table that differ between two messages, of which V were vacated and are\n"
          "still empty. cells of the whole table, at least n and n - r + a. n keys, of which r (at most n)\n"
          "are removed and a others inserted between two messages. Source: ours.");
  formula(module, "dleft_delta_bits(cells, changed_cells, cell_bits)", theory::dleft_delta_bits,
          "cells H(changed_cells / cells) + changed_cells cell_bits: bits of a message with the indices and\n"
          "new values of the changed cells. changed_cells at most cells, cell_bits 0 to 64.");
  formula(module, "dleft_least_delta_bits(cells, n, r, a, remainder_bits)", theory::dleft_least_delta_bits,
          "The fewest bits that a receiver with the previous table must get: which cells were vacated and\n"
          "filled, and the new remainders of remainder_bits (0 to 64). cells as for dleft_changed_cells. n\n"
          "keys, of which r (at most n) are removed and a others inserted between two messages. Source:\n"
          "ours.");
  formula(module, "summary_staleness(change, limits)", theory::summary_staleness,
          "How stale a replica is on average, and what it costs, as Staleness. change: DirectoryChange,\n"
          "limits: SendLimits, of which at least one is finite. Source: ours, for the policy of Fan et al.\n"
          "2000.");
  formula(module, "overstated_prefix_probability(f, num_blocks, num_peers=1)",
          theory::overstated_prefix_probability,
          "1 - (1 - f^num_blocks)^num_peers: that the copy of at least one of num_peers peers makes the "
          "prefix of a\n"
          "request's blocks too long by num_blocks or more. f: false positive rate of the copies, 0 to 1; "
          "num_peers\n"
          "at least 1. Source: ours.",
          1);
  formula(module, "ln_overstated_prefix_probability(f, num_blocks, num_peers=1)",
          theory::ln_overstated_prefix_probability, "ln of overstated_prefix_probability.", 1);
  formula(module, "mean_overstated_blocks(f, num_blocks_left)", theory::mean_overstated_blocks,
          "f (1 - f^num_blocks_left) / (1 - f): by how many blocks the copy of one peer makes a prefix too "
          "long, on\n"
          "average, if num_blocks_left follow. f 0 to 1. Source: ours.");
  formula(module, "ln_poisson_point(x, kappa)", theory::ln_poisson_point,
          "ln Pr(Poisson(kappa) = x). x 0 to 2^40; kappa finite, at least 0. Source: Loader 2000.");
  formula(module, "ln_poisson_upper_tail(theta, kappa)", theory::ln_poisson_upper_tail,
          "ln Pr(Poisson(kappa) >= theta). theta 0 to 2^40; kappa finite, at least 0.");
  formula(module, "ln_poisson_lower_tail(theta, kappa)", theory::ln_poisson_lower_tail,
          "ln Pr(Poisson(kappa) < theta). theta 0 to 2^40; kappa finite, at least 0.");
  formula(
      module, "ln_binomial_point(x, trials, p)", theory::ln_binomial_point,
      "ln Pr(Binomial(trials, p) = x). x 0 to 2^40; trials a whole number up to 2^75, also as a float; p\n"
      "0 to 1. Source: Loader 2000.");
  formula(
      module, "ln_binomial_upper_tail(theta, trials, p)", theory::ln_binomial_upper_tail,
      "ln Pr(Binomial(trials, p) >= theta). theta 0 to 2^40; trials a whole number up to 2^75, also as a\n"
      "float; p 0 to 1.");
  formula(module, "ln_binomial_lower_tail(theta, trials, p)", theory::ln_binomial_lower_tail,
          "ln Pr(Binomial(trials, p) < theta). theta 0 to 2^40; trials a whole number up to 2^75, also as a\n"
          "float; p 0 to 1.");
  formula(
      module, "probability_of_larger_share(n, s, c)", theory::probability_of_larger_share,
      "min(1, s Pr(Binomial(n, 1/s) > c)): bound on the probability that the largest of s shares (at\n"
      "least 1) of n keys (at most 2^40) has more than c. Source: the union bound; Raab and Steger 1998.");
  formula(module, "ln_probability_of_larger_share(n, s, c)", theory::ln_probability_of_larger_share,
          "The natural logarithm of probability_of_larger_share; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "largest_share(n, s, failure_probability)", theory::largest_share,
          "The least c with probability_of_larger_share(n, s, c) <= failure_probability, in (0, 1). n keys\n"
          "(at most 2^40), s shares (at least 1).");
}

}  // namespace tally::python

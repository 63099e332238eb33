#include "formula.hpp"
#include "theory_parts.hpp"

namespace tally::python {

void define_theory_counts(py::module_& module) {
  formula(module, "blocked_counter_overflow_union_bound(num_blocks, B, k, n, i)",
          theory::blocked_counter_overflow_union_bound,
          "Bound on the probability that any counter of num_blocks lines of B counters reaches i (1 to\n"
          "2^40) after n insertions of distinct keys. Source: ours.");
  formula(module, "ln_blocked_counter_overflow_union_bound(num_blocks, B, k, n, i)",
          theory::ln_blocked_counter_overflow_union_bound,
          "The natural logarithm of blocked_counter_overflow_union_bound; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "blocked_counter_jumps(histogram, B, k)", theory::blocked_counter_jumps,
          "By how much the keys of a line of B counters raise one of them, as a CountHistogram; with k = 1\n"
          "and m = num_blocks, ln_counter_upper_tail of it is the law of one counter. Source: ours.");
  formula(module,
          "blocked_threshold_false_positive_probability(theta, num_blocks, B, k, groups, true_count=0)",
          theory::blocked_threshold_false_positive_probability,
          "The probability that all counters of a key in a blocked counting filter are at least theta,\n"
          "exact; at most 2^16 states. groups: pairs (count, num_keys), each of num_keys distinct keys\n"
          "inserted count times. true_count below theta: how often the queried key was inserted itself.\n"
          "Source: ours.",
          0);
  formula(module,
          "ln_blocked_threshold_false_positive_probability(theta, num_blocks, B, k, groups, true_count=0)",
          theory::ln_blocked_threshold_false_positive_probability,
          "The natural logarithm of blocked_threshold_false_positive_probability; -inf for 0, and finite\n"
          "where that underflows.",
          0);
  formula(module, "blocked_threshold_num_states(theta, k, true_count)", theory::blocked_threshold_num_states,
          "The most states that the exact computation can have: C(k + theta - true_count, k).");
  formula(module,
          "ln_blocked_threshold_false_positive_probability_approximate(theta, num_blocks, B, k, groups, "
          "true_count=0)",
          theory::ln_blocked_threshold_false_positive_probability_approximate,
          "The natural logarithm for any number of states, with independent counters: too low, the more so\n"
          "the lower the rate. groups: pairs (count, num_keys), each of num_keys distinct keys inserted\n"
          "count times. true_count below theta: how often the queried key was inserted itself. Source:\n"
          "ours.",
          0);
  formula(module, "make_count_histogram(counts, limit)", theory::make_count_histogram,
          "A CountHistogram from pairs (count, number of keys); counts from `limit` (1 to 10000) on are\n"
          "added up.");
  formula(module, "counter_value_distribution(histogram, k, m, theta)", theory::counter_value_distribution,
          "Pr(counter = s) for s = 0 to theta - 1, if keys repeat unevenly (compound Poisson), as an array.\n"
          "histogram: a CountHistogram of the other keys; k 1 to 1024; m counters; theta 1 to 10000.\n"
          "Source: beyond Kim et al. 2019; Panjer 1981.");
  formula(module, "ln_counter_upper_tail(histogram, k, m, theta)", theory::ln_counter_upper_tail,
          "ln Pr(counter >= theta). histogram: a CountHistogram of the other keys; k 1 to 1024; m counters;\n"
          "theta 1 to 10000. Source: beyond Kim et al. 2019; Panjer 1981.");
  formula(module, "compound_threshold_false_positive_probability(histogram, theta, k, m, true_count=0)",
          theory::compound_threshold_false_positive_probability,
          "Pr(counter >= theta - true_count)^k for a key that was inserted true_count < theta times.\n"
          "histogram: a CountHistogram of the other keys; k 1 to 1024; m counters; theta 1 to 10000.\n"
          "Source: beyond Kim et al. 2019; Panjer 1981.",
          0);
  formula(module, "ln_compound_threshold_false_positive_probability(histogram, theta, k, m, true_count=0)",
          theory::ln_compound_threshold_false_positive_probability,
          "The natural logarithm of compound_threshold_false_positive_probability; -inf for 0, and finite\n"
          "where that underflows.",
          0);
  formula(module, "zipf_count_histogram(num_ranks, exponent, total, limit)", theory::zipf_count_histogram,
          "Expected CountHistogram of `total` insertions by Zipf's law: rank i of num_ranks with a\n"
          "probability proportional to i^-exponent (0 to 20).");
  formula(module, "count_min_failure_probability(w, depth, epsilon)", theory::count_min_failure_probability,
          "(1 / (w epsilon))^depth: bound on Pr(estimate > truth + epsilon N). w counters in a row, depth\n"
          "rows; epsilon the error as a share of the sum of all weights. Source: Cormode and Muthukrishnan\n"
          "2003.");
  formula(module, "ln_count_min_failure_probability(w, depth, epsilon)",
          theory::ln_count_min_failure_probability,
          "The natural logarithm of count_min_failure_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "count_min_width(epsilon)", theory::count_min_width,
          "ceil(e / epsilon): the smallest width of the theorem. Source: Cormode and Muthukrishnan 2003.");
  formula(module, "count_min_depth(delta)", theory::count_min_depth,
          "ceil(ln(1 / delta)): the smallest depth of the theorem. Source: Cormode and Muthukrishnan 2003.");
  formula(module, "count_min_two_hash_failure_probability(w, depth, epsilon, num_copies=1)",
          theory::count_min_two_hash_failure_probability,
          "(2 / (epsilon w^2) + (2 / (w epsilon))^depth)^num_copies, for rows from two hashes and a prime\n"
          "w. w counters in a row, depth rows; epsilon the error as a share of the sum of all weights.\n"
          "Source: Kirsch and Mitzenmacher 2008, Theorem 9.1.",
          1);
  formula(module, "ln_count_min_two_hash_failure_probability(w, depth, epsilon, num_copies=1)",
          theory::ln_count_min_two_hash_failure_probability,
          "The natural logarithm of count_min_two_hash_failure_probability; -inf for 0, and finite where\n"
          "that underflows.",
          1);
  formula(module, "count_min_two_hash_width(epsilon)", theory::count_min_two_hash_width,
          "The least width of Theorem 9.1: 2 e / epsilon.");
  formula(module, "count_min_two_hash_depth(epsilon)", theory::count_min_two_hash_depth,
          "The depth of Theorem 9.1, with which one copy fails with at most epsilon.");
  formula(module, "count_min_two_hash_copies(epsilon, delta)", theory::count_min_two_hash_copies,
          "Copies that all fail with a probability of at most delta. Source: Kirsch and Mitzenmacher 2008,\n"
          "section 9.2.");
  formula(module, "counter_overflow_union_bound(m, k, n, i)", theory::counter_overflow_union_bound,
          "m Pr(Binomial(k n, 1/m) >= i): bound on the probability that any counter reaches i. m counters,\n"
          "k hash functions, n distinct keys inserted once. Source: Fan et al. 2000.");
  formula(module, "ln_counter_overflow_union_bound(m, k, n, i)", theory::ln_counter_overflow_union_bound,
          "The natural logarithm of counter_overflow_union_bound; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "counter_overflow_bound(m, k, n, i)", theory::counter_overflow_bound,
          "m C(n k, i) / m^i, the paper's first bound. m counters, k hash functions, n distinct keys\n"
          "inserted once. Source: Fan et al. 2000.");
  formula(module, "ln_counter_overflow_bound(m, k, n, i)", theory::ln_counter_overflow_bound,
          "The natural logarithm of counter_overflow_bound; -inf for 0, and finite where that underflows.");
  formula(module, "counter_overflow_bound_simple(m, k, n, i)", theory::counter_overflow_bound_simple,
          "m (e n k / (i m))^i, the paper's second bound. m counters, k hash functions, n distinct keys\n"
          "inserted once. Source: Fan et al. 2000.");
  formula(module, "ln_counter_overflow_bound_simple(m, k, n, i)", theory::ln_counter_overflow_bound_simple,
          "The natural logarithm of counter_overflow_bound_simple; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "counter_overflow_bound_best_k(m, i)", theory::counter_overflow_bound_best_k,
          "m (e ln 2 / i)^i, for every k up to (m/n) ln 2: 1.37e-15 m at i = 16. Source: Fan et al. 2000.");
  formula(module, "ln_counter_overflow_bound_best_k(m, i)", theory::ln_counter_overflow_bound_best_k,
          "The natural logarithm of counter_overflow_bound_best_k; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "expected_largest_counter(m, k, n)", theory::expected_largest_counter,
          "The asymptotic mean of the largest counter; a rough guide. m counters, k hash functions, n\n"
          "distinct keys inserted once. Source: Fan et al. 2000.");
  formula(module, "inverse_gamma_function(x)", theory::inverse_gamma_function,
          "The y >= 2 with Gamma(y) = x, for x >= 1.");
  formula(module, "kappa_star(theta)", theory::kappa_star,
          "The best mean of a counter of a threshold filter. theta 1 to 2^32. Source: Kim et al. 2019,\n"
          "section 3.2.");
  formula(module, "ln_c(theta)", theory::ln_c,
          "The best false positive probability is exp(ln_c(theta) m / n). theta 1 to 2^32. Source: Kim et\n"
          "al. 2019, section 3.2.");
  formula(module, "kappa_star_line(theta)", theory::kappa_star_line,
          "The paper's line 0.2037 theta + 0.9176; within 2% of kappa_star for theta > 30.");
  formula(module, "y1(theta, kappa)", theory::y1,
          "ln Pr(Poisson(kappa) >= theta) (Lemma 1). theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "y2(theta, kappa)", theory::y2,
          "kappa - theta - 1. theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "g(theta, kappa)", theory::g,
          "P ln P + kappa dP/dkappa, whose zero is kappa_star (Lemmas 3 to 5). theta 1 to 2^32. Source: Kim\n"
          "et al. 2019, section 3.2.");
  formula(module, "kappa_1(theta)", theory::kappa_1,
          "The lower point with y1 = y2. theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "kappa_2(theta)", theory::kappa_2,
          "The upper point with y1 = y2. theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "threshold_false_positive_probability(theta, k, n, m, true_count=0)",
          theory::threshold_false_positive_probability,
          "Pr(Binomial(k n, 1/m) >= theta - true_count)^k. A key passes if all k counters of m are at least\n"
          "theta, after n insertions of other keys; it was inserted true_count < theta times itself.\n"
          "Source: Kim et al. 2019, equation 2.",
          0);
  formula(module, "ln_threshold_false_positive_probability(theta, k, n, m, true_count=0)",
          theory::ln_threshold_false_positive_probability,
          "The natural logarithm of threshold_false_positive_probability; -inf for 0, and finite where that\n"
          "underflows.",
          0);
  formula(module, "threshold_false_positive_probability_approximate(theta, k, n, m, true_count=0)",
          theory::threshold_false_positive_probability_approximate,
          "The same with Poisson counters, for large filters. A key passes if all k counters of m are at\n"
          "least theta, after n insertions of other keys; it was inserted true_count < theta times itself.\n"
          "Source: Kim et al. 2019, equation 3.",
          0);
  formula(module, "ln_threshold_false_positive_probability_approximate(theta, k, n, m, true_count=0)",
          theory::ln_threshold_false_positive_probability_approximate,
          "The natural logarithm of threshold_false_positive_probability_approximate; -inf for 0, and\n"
          "finite where that underflows.",
          0);
  formula(module, "best_num_hashes_threshold(theta, n, m)", theory::best_num_hashes_threshold,
          "The best k: next to kappa_star(theta) m / n. Source: Kim et al. 2019, Theorem 1.");
}

}  // namespace tally::python

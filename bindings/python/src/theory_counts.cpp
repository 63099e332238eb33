#include "formula.hpp"
#include "theory_parts.hpp"

namespace tally::python {

void define_theory_counts(py::module_& module) {
  formula(module, "blocked_counter_overflow_union_bound(num_blocks, B, k, n, i)",
          theory::blocked_counter_overflow_union_bound,
          "num_blocks B sum_j Pr(Binomial(n, 1/num_blocks) = j) Pr(Binomial(k j, 1/B) >= i): bound on the\n"
          "probability that any counter reaches i (1 to 2^40) after n insertions of distinct keys; at most\n"
          "1. num_blocks lines of B counters (1 to 4096), k hash functions (1 to 1024). Source: ours.");
  formula(module, "ln_blocked_counter_overflow_union_bound(num_blocks, B, k, n, i)",
          theory::ln_blocked_counter_overflow_union_bound,
          "The natural logarithm of blocked_counter_overflow_union_bound; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "blocked_counter_jumps(histogram, B, k)", theory::blocked_counter_jumps,
          "By how much the keys of a line of B counters (1 to 4096) raise one of them, as a CountHistogram;\n"
          "with k = 1 and m = num_blocks, ln_counter_upper_tail of it is the law of one counter. histogram:\n"
          "a CountHistogram of the keys; k 1 to 1024. Source: ours.");
  formula(module,
          "blocked_threshold_false_positive_probability(theta, num_blocks, B, k, groups, true_count=0)",
          theory::blocked_threshold_false_positive_probability,
          "The probability that all counters of a key in a blocked counting filter are at least theta,\n"
          "exact; ValueError above 2^16 states (blocked_threshold_num_states). The time grows with the\n"
          "number of keys per line. num_blocks lines of B counters (1 to 4096), k hash functions (1 to\n"
          "1024). groups: pairs (count, num_keys), each of num_keys distinct keys inserted count times.\n"
          "true_count below theta: how often the queried key was inserted itself. Source: ours.",
          0);
  formula(module,
          "ln_blocked_threshold_false_positive_probability(theta, num_blocks, B, k, groups, true_count=0)",
          theory::ln_blocked_threshold_false_positive_probability,
          "The natural logarithm of blocked_threshold_false_positive_probability; -inf for 0, and finite\n"
          "where that underflows.",
          0);
  formula(module, "blocked_threshold_num_states(theta, k, true_count)", theory::blocked_threshold_num_states,
          "C(k + theta - true_count, k): the most states of blocked_threshold_false_positive_probability;\n"
          "infinite for k above 24. theta 1 to 2^40, k 1 to 1024, true_count below theta.");
  formula(module,
          "ln_blocked_threshold_false_positive_probability_approximate(theta, num_blocks, B, k, groups, "
          "true_count=0)",
          theory::ln_blocked_threshold_false_positive_probability_approximate,
          "The natural logarithm of blocked_threshold_false_positive_probability for any number of states,\n"
          "with independent counters: too low, the more so the lower the rate. theta 1 to 2^40; num_blocks\n"
          "lines of B counters (1 to 4096), k hash functions (1 to 1024). groups: pairs (count, num_keys),\n"
          "each of num_keys distinct keys inserted count times. true_count below theta: how often the\n"
          "queried key was inserted itself. Source: ours.",
          0);
  formula(module, "make_count_histogram(counts, limit)", theory::make_count_histogram,
          "A CountHistogram from pairs (count, number of keys) in any order; counts at or above limit (1 to\n"
          "10000) are added up. Counts at least 1; numbers of keys may be expected values, at least 0.");
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
  formula(
      module, "conservative_threshold_false_positive_probability(histogram, theta, k, m, true_count=0)",
      theory::conservative_threshold_false_positive_probability,
      "Pr(a key that was inserted true_count < theta times is reported >= theta) with conservative\n"
      "update, if insertions come in random order: an approximation. histogram: a CountHistogram of all\n"
      "keys; k 1 to 64; m counters (a Count-Min sketch: depth times width, k = depth); theta 1 to 10000.\n"
      "Source: ours; the uniform case: Bianchi, Duffy, Leith and Shneer 2012.",
      0);
  formula(module,
          "ln_conservative_threshold_false_positive_probability(histogram, theta, k, m, true_count=0)",
          theory::ln_conservative_threshold_false_positive_probability,
          "The natural logarithm of conservative_threshold_false_positive_probability; -inf for 0.", 0);
  formula(module, "conservative_threshold_false_positive_probabilities(histogram, theta, k, m)",
          theory::conservative_threshold_false_positive_probabilities,
          "The same for every true_count from 0 to theta - 1 in one go, as an array. theta 1 to 128.");
  formula(module, "conservative_counter_upper_tail(histogram, k, m, theta)",
          theory::conservative_counter_upper_tail,
          "Pr(counter >= theta) with conservative update, if insertions come in random order: an\n"
          "approximation. k 1 to 64; m counters; theta 1 to 10000. Source: ours.");
  formula(module, "conservative_mean_excess(histogram, k, m, true_count=0)", theory::conservative_mean_excess,
          "By how much the count of a key that was inserted true_count times (0 to 10000) is too high on\n"
          "average, with conservative update, if insertions come in random order: an approximation. k 1 to\n"
          "64; m counters. Source: ours.",
          0);
  formula(module, "zipf_count_histogram(num_ranks, exponent, total, limit)", theory::zipf_count_histogram,
          "The expected CountHistogram of total insertions by Zipf's law: rank i of num_ranks with a\n"
          "probability proportional to i^-exponent (0 to 20). num_ranks at least 1, limit 1 to 10000.");
  formula(module, "count_min_failure_probability(w, depth, epsilon)", theory::count_min_failure_probability,
          "(1 / (w epsilon))^depth: bound on Pr(estimate > truth + epsilon N), N the sum of all weights; at\n"
          "most 1. w counters per row, depth rows; epsilon above 0. Source: Cormode and Muthukrishnan 2003.");
  formula(module, "ln_count_min_failure_probability(w, depth, epsilon)",
          theory::ln_count_min_failure_probability,
          "The natural logarithm of count_min_failure_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "count_min_width(epsilon)", theory::count_min_width,
          "ceil(e / epsilon): the smallest width for an error of epsilon, in (0, 1), as a share of the sum\n"
          "of all weights. Source: Cormode and Muthukrishnan 2003.");
  formula(module, "count_min_depth(delta)", theory::count_min_depth,
          "ceil(ln(1 / delta)): the smallest depth for the failure probability delta, in (0, 1). Source:\n"
          "Cormode and Muthukrishnan 2003.");
  formula(module, "count_min_two_hash_failure_probability(w, depth, epsilon, num_copies=1)",
          theory::count_min_two_hash_failure_probability,
          "(2 / (epsilon w^2) + (2 / (w epsilon))^depth)^num_copies: count_min_failure_probability for rows\n"
          "from two hashes; at most 1. w counters per row, depth rows; w prime and at least depth (not\n"
          "checked); epsilon above 0. Source: Kirsch and Mitzenmacher 2008, Theorem 9.1.",
          1);
  formula(module, "ln_count_min_two_hash_failure_probability(w, depth, epsilon, num_copies=1)",
          theory::ln_count_min_two_hash_failure_probability,
          "The natural logarithm of count_min_two_hash_failure_probability; -inf for 0, and finite where\n"
          "that underflows.",
          1);
  formula(module, "count_min_two_hash_width(epsilon)", theory::count_min_two_hash_width,
          "The least width of the theorem: 2 e / epsilon, rounded up; the sketch uses the next prime.\n"
          "epsilon in (0, 1). Source: Kirsch and Mitzenmacher 2008, Theorem 9.1.");
  formula(
      module, "count_min_two_hash_depth(epsilon)", theory::count_min_two_hash_depth,
      "ceil(ln(1 / (epsilon (1 - 1 / (2 e^2))))): the depth with which one copy fails with a probability\n"
      "of at most epsilon, in (0, 1). Source: Kirsch and Mitzenmacher 2008, Theorem 9.1.");
  formula(module, "count_min_two_hash_copies(epsilon, delta)", theory::count_min_two_hash_copies,
          "ceil(ln(1 / delta) / ln(1 / epsilon)): copies that all fail with a probability of at most delta.\n"
          "epsilon and delta in (0, 1). Source: Kirsch and Mitzenmacher 2008, section 9.2.");
  formula(
      module, "insertion_count_histogram(num_keys, num_insertions, limit)", theory::insertion_count_histogram,
      "The expected CountHistogram of num_insertions insertions of num_keys distinct keys (at least 1), if\n"
      "each is of a key at random and every key was inserted. num_insertions at least num_keys, limit 1\n"
      "to 10000. Source: ours.");
  formula(
      module, "counter_saturation_rate(m, k, n, i)", theory::counter_saturation_rate,
      "m (Pr(Binomial(k n, 1/m) >= i) - Pr(Binomial(k (n - 1), 1/m) >= i)): bound on the expected number\n"
      "of m counters that one replacement brings to their maximum i (1 to 2^40). n keys (at least 1), k\n"
      "hash functions (1 to 1024). Source: ours.");
  formula(
      module, "expected_saturated_counters(m, k, n, i, N)", theory::expected_saturated_counters,
      "m Pr(Binomial(k n, 1/m) >= i) + N counter_saturation_rate: bound on the expected number of counters\n"
      "at their maximum i (1 to 2^40) after N replacements; at most m. n keys (at least 1), k hash\n"
      "functions (1 to 1024). Source: ours.");
  formula(module, "blocked_counter_saturation_rate(num_blocks, B, k, n, i)",
          theory::blocked_counter_saturation_rate,
          "counter_saturation_rate for num_blocks lines of B counters (1 to 4096): a key's k counters (1 to\n"
          "1024) are in one line. n keys (at least 1), i 1 to 2^40. Source: ours.");
  formula(
      module, "blocked_expected_saturated_counters(num_blocks, B, k, n, i, N)",
      theory::blocked_expected_saturated_counters,
      "expected_saturated_counters for num_blocks lines of B counters (1 to 4096): a key's k counters (1\n"
      "to 1024) are in one line. n keys (at least 1), i 1 to 2^40, N replacements. Source: ours.");
  formula(module, "compound_counter_saturation_rate(histogram, k, m, i)",
          theory::compound_counter_saturation_rate,
          "k sum_c n_c Pr(i - c <= S < i) / sum_c c n_c: counter_saturation_rate per insertion for keys with "
          "the\n"
          "counts of a CountHistogram. k 1 to 1024, m counters, i 1 to 10000. Source: ours.");
  formula(module, "compound_expected_saturated_counters(histogram, k, m, i, N)",
          theory::compound_expected_saturated_counters,
          "expected_saturated_counters for keys with the counts of a CountHistogram, after N insertions that "
          "each\n"
          "follow a removal. k 1 to 1024, m counters, i 1 to 10000. Source: ours.");
  formula(module, "blocked_compound_expected_saturated_counters(histogram, num_blocks, B, k, i, N)",
          theory::blocked_compound_expected_saturated_counters,
          "The same for num_blocks lines of B counters (1 to 4096). histogram: a CountHistogram of the keys; "
          "k 1\n"
          "to 1024, i 1 to 10000, N insertions that each follow a removal. Source: ours.");
  formula(
      module, "saturated_share(kappa, i, replacements_per_key)", theory::saturated_share,
      "The share of counters with a mean of kappa keys (above 0, at most 1000) that were ever at i (1 to\n"
      "65535) after replacements_per_key replacements of random keys (at least 0). An approximation for\n"
      "large filters. Source: ours.");
  formula(
      module, "saturated_false_positive_probability(m, k, n, share)",
      theory::saturated_false_positive_probability,
      "(1 - (1 - share) (1 - 1/m)^(k n))^k: bound on the false positive rate if this share (0 to 1) of the\n"
      "m counters is saturated. k 1 to 1024. Source: ours.");
  formula(module, "ln_saturated_false_positive_probability(m, k, n, share)",
          theory::ln_saturated_false_positive_probability,
          "The natural logarithm of saturated_false_positive_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(
      module, "counter_overflow_union_bound(m, k, n, i)", theory::counter_overflow_union_bound,
      "m Pr(Binomial(k n, 1/m) >= i): bound on the probability that any counter reaches i; the tightest.\n"
      "m counters, k hash functions (1 to 1024), n insertions, i 1 to 2^40; at most 1. Source: Fan et\n"
      "al. 2000.");
  formula(module, "ln_counter_overflow_union_bound(m, k, n, i)", theory::ln_counter_overflow_union_bound,
          "The natural logarithm of counter_overflow_union_bound; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "counter_overflow_bound(m, k, n, i)", theory::counter_overflow_bound,
          "m C(n k, i) / m^i: the paper's first bound on the probability that any counter reaches i. m\n"
          "counters, k hash functions (1 to 1024), n insertions, i 1 to 2^40; at most 1. Source: Fan et al.\n"
          "2000.");
  formula(module, "ln_counter_overflow_bound(m, k, n, i)", theory::ln_counter_overflow_bound,
          "The natural logarithm of counter_overflow_bound; -inf for 0, and finite where that underflows.");
  formula(module, "counter_overflow_bound_simple(m, k, n, i)", theory::counter_overflow_bound_simple,
          "m (e n k / (i m))^i: the paper's second bound on the probability that any counter reaches i. m\n"
          "counters, k hash functions (1 to 1024), n insertions, i 1 to 2^40; at most 1. Source: Fan et al.\n"
          "2000.");
  formula(module, "ln_counter_overflow_bound_simple(m, k, n, i)", theory::ln_counter_overflow_bound_simple,
          "The natural logarithm of counter_overflow_bound_simple; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "counter_overflow_bound_best_k(m, i)", theory::counter_overflow_bound_best_k,
          "m (e ln 2 / i)^i: the bound for every k up to (m/n) ln 2; 1.37e-15 m at i = 16. m counters, i 1\n"
          "to 2^40; at most 1. Source: Fan et al. 2000.");
  formula(module, "ln_counter_overflow_bound_best_k(m, i)", theory::ln_counter_overflow_bound_best_k,
          "The natural logarithm of counter_overflow_bound_best_k; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "expected_largest_counter(m, k, n)", theory::expected_largest_counter,
          "G(m) (1 + ln(k n / m) / ln G(m)), G the inverse_gamma_function: the asymptotic mean of the\n"
          "largest counter; a rough guide. m counters, k hash functions (1 to 1024), n insertions (at least\n"
          "1). Source: Fan et al. 2000.");
  formula(module, "inverse_gamma_function(x)", theory::inverse_gamma_function,
          "The y >= 2 with Gamma(y) = x, for x at least 1 and finite.");
  formula(
      module, "kappa_star(theta)", theory::kappa_star,
      "The kappa = k n / m, the mean of a counter, that minimizes Pr(Poisson(kappa) >= theta)^(kappa m /\n"
      "n). theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "ln_c(theta)", theory::ln_c,
          "kappa_star ln Pr(Poisson(kappa_star) >= theta): the best false positive probability is\n"
          "exp(ln_c(theta) m / n). theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "kappa_star_line(theta)", theory::kappa_star_line,
          "The paper's line 0.2037 theta + 0.9176; within 2% of kappa_star for theta > 30. theta 1 to 2^32.\n"
          "Source: Kim et al. 2019, section 3.2.");
  formula(module, "y1(theta, kappa)", theory::y1,
          "ln Pr(Poisson(kappa) >= theta) (Lemma 1). theta 1 to 2^32, kappa above 0. Source: Kim et al.\n"
          "2019, section 3.2.");
  formula(module, "y2(theta, kappa)", theory::y2,
          "kappa - theta - 1. theta 1 to 2^32, kappa above 0. Source: Kim et al. 2019, section 3.2.");
  formula(
      module, "g(theta, kappa)", theory::g,
      "P ln P + kappa dP/dkappa with P = Pr(Poisson(kappa) >= theta), whose zero is kappa_star (Lemmas 3\n"
      "to 5). theta 1 to 2^32, kappa above 0. Source: Kim et al. 2019, section 3.2.");
  formula(module, "kappa_1(theta)", theory::kappa_1,
          "The lower point with y1 = y2. theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "kappa_2(theta)", theory::kappa_2,
          "The upper point with y1 = y2. theta 1 to 2^32. Source: Kim et al. 2019, section 3.2.");
  formula(module, "threshold_false_positive_probability(theta, k, n, m, true_count=0)",
          theory::threshold_false_positive_probability,
          "Pr(Binomial(k n, 1/m) >= theta - true_count)^k: the probability that all k counters of a key are\n"
          "at least theta. theta 1 to 2^40, k 1 to 1024, n insertions of other keys, m counters; true_count\n"
          "below theta: how often the queried key was inserted itself. Source: Kim et al. 2019, equation 2.",
          0);
  formula(module, "ln_threshold_false_positive_probability(theta, k, n, m, true_count=0)",
          theory::ln_threshold_false_positive_probability,
          "The natural logarithm of threshold_false_positive_probability; -inf for 0, and finite where that\n"
          "underflows.",
          0);
  formula(module, "threshold_false_positive_probability_approximate(theta, k, n, m, true_count=0)",
          theory::threshold_false_positive_probability_approximate,
          "Pr(Poisson(k n / m) >= theta - true_count)^k: threshold_false_positive_probability for large\n"
          "filters. theta 1 to 2^40, k 1 to 1024, n insertions of other keys, m counters; true_count below\n"
          "theta: how often the queried key was inserted itself. Source: Kim et al. 2019, equation 3.",
          0);
  formula(module, "ln_threshold_false_positive_probability_approximate(theta, k, n, m, true_count=0)",
          theory::ln_threshold_false_positive_probability_approximate,
          "The natural logarithm of threshold_false_positive_probability_approximate; -inf for 0, and\n"
          "finite where that underflows.",
          0);
  formula(module, "best_num_hashes_threshold(theta, n, m)", theory::best_num_hashes_threshold,
          "The whole k next to kappa_star(theta) m / n with the lower\n"
          "threshold_false_positive_probability_approximate; 1 to 1024. theta 1 to 2^32, n insertions (at\n"
          "least 1), m counters. Source: Kim et al. 2019, Theorem 1.");
}

}  // namespace tally::python

#include "formula.hpp"
#include "theory_parts.hpp"

namespace tally::python {

void define_theory_bloom(py::module_& module) {
  formula(module, "false_positive_probability(m, k, n)", theory::false_positive_probability,
          "(1 - (1 - 1/m)^(k n))^k: the probability that a key which was never inserted passes a Bloom\n"
          "filter. m bits, k hash functions (1 to 1024), n distinct keys. Source: Fan et al. 2000.");
  formula(module, "ln_false_positive_probability(m, k, n)", theory::ln_false_positive_probability,
          "The natural logarithm of false_positive_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "false_positive_probability_approximate(m, k, n)",
          theory::false_positive_probability_approximate,
          "(1 - exp(-k n / m))^k, good for large m. m bits, k hash functions (1 to 1024), n distinct keys.\n"
          "Source: Fan et al. 2000, Tables 3 to 5.");
  formula(module, "ln_false_positive_probability_approximate(m, k, n)",
          theory::ln_false_positive_probability_approximate,
          "The natural logarithm of false_positive_probability_approximate; -inf for 0, and finite where\n"
          "that underflows.");
  formula(module, "false_positive_probability_occupancy(m, k, n)",
          theory::false_positive_probability_occupancy,
          "The true probability for k independent positions per key, E[(X/m)^k] with X the number of set\n"
          "bits. Takes about k^2 n steps, at most 2^31. m bits, k hash functions (1 to 1024), n distinct\n"
          "keys. Source: Bose et al. 2008, for the gap.");
  formula(module, "ln_false_positive_probability_occupancy(m, k, n)",
          theory::ln_false_positive_probability_occupancy,
          "The natural logarithm of false_positive_probability_occupancy; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "false_positive_probability_expansion(m, k, n)",
          theory::false_positive_probability_expansion,
          "The first terms of false_positive_probability_occupancy in powers of 1/m, in a few steps at any\n"
          "size. For k up to 100 at the best fill it is off by less than 0.1% from n = 10. m bits, k hash\n"
          "functions (1 to 1024), n distinct keys.");
  formula(module, "ln_false_positive_probability_expansion(m, k, n)",
          theory::ln_false_positive_probability_expansion,
          "The natural logarithm of false_positive_probability_expansion; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "false_positive_probability_partitioned(m, k, n)",
          theory::false_positive_probability_partitioned,
          "(1 - (1 - k/m)^n)^k: a filter in k parts, one position in each. m bits, at least k; k hash\n"
          "functions (1 to 1024), n distinct keys. Source: Kirsch and Mitzenmacher 2008, section 2.");
  formula(module, "ln_false_positive_probability_partitioned(m, k, n)",
          theory::ln_false_positive_probability_partitioned,
          "The natural logarithm of false_positive_probability_partitioned; -inf for 0, and finite where\n"
          "that underflows.");
  formula(module, "best_num_hashes_real(m, n)", theory::best_num_hashes_real,
          "The real k that minimizes false_positive_probability_approximate: (m/n) ln 2. m bits, n distinct\n"
          "keys (at least 1).");
  formula(module, "best_num_hashes(m, n)", theory::best_num_hashes,
          "The whole k next to best_num_hashes_real with the lower false_positive_probability; 1 to 1024. m\n"
          "bits, n distinct keys (at least 1).");
  formula(module, "best_false_positive_probability(m, n)", theory::best_false_positive_probability,
          "0.6185^(m/n): false_positive_probability_approximate at the real best k. m bits, n distinct keys\n"
          "(at least 1).");
  formula(module, "ln_best_false_positive_probability(m, n)", theory::ln_best_false_positive_probability,
          "The natural logarithm of best_false_positive_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "blocked_bloom_false_positive_probability(num_blocks, B, k, n)",
          theory::blocked_bloom_false_positive_probability,
          "A blocked Bloom filter, exact: sum_j Pr(Binomial(n, 1/num_blocks) = j) g(j), with g(j) the false\n"
          "positive probability of a block that holds j keys. num_blocks blocks of B bits (1 to 4096), k\n"
          "hash functions (1 to 1024), n distinct keys. Source: after Putze, Sanders and Singler 2007.");
  formula(module, "ln_blocked_bloom_false_positive_probability(num_blocks, B, k, n)",
          theory::ln_blocked_bloom_false_positive_probability,
          "The natural logarithm of blocked_bloom_false_positive_probability; -inf for 0, and finite where\n"
          "that underflows.");
  formula(
      module, "blocked_bloom_false_positive_probability_approximate(num_blocks, B, k, n)",
      theory::blocked_bloom_false_positive_probability_approximate,
      "blocked_bloom_false_positive_probability with g(j) = (1 - (1 - 1/B)^(k j))^k: faster, and too low\n"
      "by some percent. num_blocks blocks of B bits (1 to 4096), k hash functions (1 to 1024), n\n"
      "distinct keys. Source: after Putze, Sanders and Singler 2007.");
  formula(module, "ln_blocked_bloom_false_positive_probability_approximate(num_blocks, B, k, n)",
          theory::ln_blocked_bloom_false_positive_probability_approximate,
          "The natural logarithm of blocked_bloom_false_positive_probability_approximate; -inf for 0, and\n"
          "finite where that underflows.");
  formula(
      module, "best_num_hashes_blocked_bloom(num_blocks, B, n)", theory::best_num_hashes_blocked_bloom,
      "The k of 1 to 64 with the lowest blocked_bloom_false_positive_probability. num_blocks blocks of B\n"
      "bits (1 to 4096), n distinct keys. Source: after Putze, Sanders and Singler 2007.");
  formula(
      module, "blocked_bloom_num_blocks_for(target, B, k, n)", theory::blocked_bloom_num_blocks_for,
      "The smallest number of blocks with which blocked_bloom_false_positive_probability is at most\n"
      "target, in (0, 1); ValueError if 2^50 blocks are not enough. B bits per block (1 to 4096), k hash\n"
      "functions (1 to 1024), n distinct keys. Source: after Putze, Sanders and Singler 2007.");
  formula(
      module, "register_bloom_false_positive_probability(num_blocks, num_words, B, k, n)",
      theory::register_bloom_false_positive_probability,
      "A register-blocked Bloom filter: sum_j Pr(Binomial(n, 1/num_blocks) = j) g(j)^num_words, with\n"
      "g(j) that of a filter of B bits, k / num_words hash functions and j keys. num_words 1 to 64 words\n"
      "of B bits (1 to 4096) per block; k a multiple of num_words, 1 to 1024; n distinct keys. Source:\n"
      "after Putze, Sanders and Singler 2007.");
  formula(module, "ln_register_bloom_false_positive_probability(num_blocks, num_words, B, k, n)",
          theory::ln_register_bloom_false_positive_probability,
          "The natural logarithm of register_bloom_false_positive_probability; -inf for 0, and finite where\n"
          "that underflows.");
  formula(module, "double_hashing_false_positive_probability(scheme, m, k, n)",
          theory::double_hashing_false_positive_probability,
          "Exact at every m and n, by counting all pairs (triples) of hash values; absolute error 1e-14;\n"
          "ValueError above 2^33 steps. scheme: 'plain', 'quadratic', 'cubic', 'triple' or 'partition'; m 1\n"
          "to 2^32 (in 'partition' a multiple of k), k 1 to 16. n distinct keys. Source: ours; schemes of\n"
          "Kirsch and Mitzenmacher 2008, section 5.");
  formula(module, "double_hashing_num_steps(scheme, m, k)", theory::double_hashing_num_steps,
          "The steps (one or two nanoseconds each) of double_hashing_false_positive_probability, at any\n"
          "number of keys. scheme: 'plain', 'quadratic', 'cubic', 'triple' or 'partition'; m 1 to 2^32 (in\n"
          "'partition' a multiple of k), k 1 to 16. Source: ours.");
  formula(
      module, "double_hashing_distinct_positions(scheme, m, k)", theory::double_hashing_distinct_positions,
      "Pr(a key has exactly j distinct positions), j = 0 to k, as an array; ValueError above 2^33 steps.\n"
      "scheme: 'plain', 'quadratic', 'cubic', 'triple' or 'partition'; m 1 to 2^32 (in 'partition' a\n"
      "multiple of k), k 1 to 16. Source: ours.");
  formula(
      module, "ln_double_hashing_false_positive_probability_expansion(scheme, m, k, n)",
      theory::ln_double_hashing_false_positive_probability_expansion,
      "ln of the rate but for terms of the second order in 1/m, for any m. scheme: 'plain', 'quadratic',\n"
      "'cubic' or 'triple'; k 1 to 1024; n distinct keys. Source: ours.");
  formula(module, "ln_mean_over_coinciding_positions(m, k, w)", theory::ln_mean_over_coinciding_positions,
          "ln E[prod_j w[j - 1]^N_j], N_j of m positions hit by just j of k independent ones. w: numbers in\n"
          "[0, 1], the first above 0; the last is also that of all further j. k 1 to 1024. Source: ours.");
  formula(
      module, "double_hashing_gain_by_coinciding_positions(scheme, m, k, w)",
      theory::double_hashing_gain_by_coinciding_positions,
      "E[prod_j w[j - 1]^N_j] - w[0]^k for a double hashing scheme, but for terms of the second order in\n"
      "1/m; 0 for 'partition'. Ranges as ln_mean_over_coinciding_positions. Source: ours.");
  formula(module, "double_hashing_gain_by_shared_positions(scheme, m, k, numbers, ratios)",
          theory::double_hashing_gain_by_shared_positions,
          "By how much numbers[i] keys that share several positions with a key raise its rate, as a share of "
          "it, if one of\n"
          "them makes Pr(counter >= theta) ratios[i] times as large: to the first order in their number. "
          "numbers at\n"
          "least 0, as many as ratios, which are at least 1. Source: ours.");
  formula(module, "independent_distinct_positions(m, k)", theory::independent_distinct_positions,
          "Pr(k independent uniform positions of m are exactly j distinct ones), j = 0 to k, as an array. m\n"
          "at least 1, k 1 to 1024.");
  formula(module, "partition_double_false_positive_probability(p, k, n)",
          theory::partition_double_false_positive_probability,
          "E + (1 - E) sum_j (-1)^j C(k, j) (1 - j/(p+1))^n, E = 1 - (1 - 1/p^2)^n: the partition scheme\n"
          "with double hashing, exact at every n. k parts (1 to 1024) of p bits, p prime (not checked) and\n"
          "at least k; n distinct keys. Source: Kirsch and Mitzenmacher 2008, section 3.");
  formula(module, "ln_partition_double_false_positive_probability(p, k, n)",
          theory::ln_partition_double_false_positive_probability,
          "The natural logarithm of partition_double_false_positive_probability; -inf for 0, and finite\n"
          "where that underflows.");
  formula(
      module, "rate_deviation_bound(n, lambda_, xi, epsilon, bias)", theory::rate_deviation_bound,
      "2 exp(-2 n (epsilon - bias)^2 / (lambda_^2 + xi)): bound on the probability that a filter's rate\n"
      "differs from the limit of its scheme by more than epsilon; at most 1. n distinct keys; lambda_:\n"
      "k^2 n / m, above 0; xi: deviation of the positions from uniformity, at least 0; epsilon above 0;\n"
      "bias: distance of the mean rate from the limit, at least 0. Source: Kirsch and Mitzenmacher 2008,\n"
      "Theorem 7.1.");
  formula(module, "measured_rate_deviation_bound(n, lambda_, xi, epsilon, bias, q)",
          theory::measured_rate_deviation_bound,
          "2 exp(-q epsilon^2 / 2) + rate_deviation_bound at epsilon / 2: the bound for the share of q\n"
          "queries that are false positives; at most 1. Source: Kirsch and Mitzenmacher 2008, Theorem 7.2,\n"
          "part 3.");
  formula(
      module, "rate_deviation(n, lambda_, xi, bias, delta)", theory::rate_deviation,
      "bias + sqrt((lambda_^2 + xi) ln(2 / delta) / (2 n)): the epsilon at which rate_deviation_bound is\n"
      "delta, in (0, 1). n at least 1. Source: Kirsch and Mitzenmacher 2008, Theorem 7.1.");
  formula(module, "rate_variance_bound(m, k, f)", theory::rate_variance_bound,
          "k^3 f / m, at most f (1 - f): bound on the variance of the rates of filters with the same number\n"
          "of keys, under every scheme. m bits, k hash functions (1 to 1024), f in (0, 1): their mean rate.");
  formula(module, "rate_deviation_bound_by_rate(m, k, f, epsilon)", theory::rate_deviation_bound_by_rate,
          "Bound on the probability that a filter's rate differs from the mean f by at least epsilon, under\n"
          "every scheme; sharper than rate_deviation_bound for a small f. m bits, k hash functions (1 to\n"
          "1024), f in (0, 1), epsilon above 0. By McDiarmid and Reed 2006.");
  formula(module, "rate_deviation_bound_independent(m, k, n, epsilon)",
          theory::rate_deviation_bound_independent,
          "Chernoff's bound on the probability that a filter's rate differs from\n"
          "false_positive_probability(m, k, n) by at least epsilon, for k independent positions. m bits, k\n"
          "hash functions (1 to 1024), n distinct keys (at least 1), epsilon above 0.");
  formula(
      module, "rate_variance_approximate(m, k, n)", theory::rate_variance_approximate,
      "The variance of the rates of filters with the same number of keys, in the limit of large filters:\n"
      "k^2 (1 - exp(-kappa))^(2 k - 2) (exp(-kappa) - (1 + kappa) exp(-2 kappa)) / m, kappa = k n / m. m\n"
      "bits, k hash functions (1 to 1024), n distinct keys.");
}

}  // namespace tally::python

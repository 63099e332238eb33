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
  formula(module, "false_positive_probability_partitioned(m, k, n)",
          theory::false_positive_probability_partitioned,
          "(1 - (1 - k/m)^n)^k: a filter in k parts, one position in each. m bits, k hash functions (1 to\n"
          "1024), n distinct keys. Source: Kirsch and Mitzenmacher 2008, section 2.");
  formula(module, "ln_false_positive_probability_partitioned(m, k, n)",
          theory::ln_false_positive_probability_partitioned,
          "The natural logarithm of false_positive_probability_partitioned; -inf for 0, and finite where\n"
          "that underflows.");
  formula(module, "best_num_hashes_real(m, n)", theory::best_num_hashes_real,
          "The real k that minimizes the approximation: (m/n) ln 2. n at least 1.");
  formula(module, "best_num_hashes(m, n)", theory::best_num_hashes,
          "The whole k next to it with the lower false positive probability; 1 to 1024.");
  formula(module, "best_false_positive_probability(m, n)", theory::best_false_positive_probability,
          "0.6185^(m/n): the approximation at the real best k. n at least 1.");
  formula(module, "ln_best_false_positive_probability(m, n)", theory::ln_best_false_positive_probability,
          "The natural logarithm of best_false_positive_probability; -inf for 0, and finite where that\n"
          "underflows.");
  formula(module, "blocked_bloom_false_positive_probability(num_blocks, B, k, n)",
          theory::blocked_bloom_false_positive_probability,
          "A blocked Bloom filter: the mixture over the number of keys in a block, exact. num_blocks blocks\n"
          "of B bits (1 to 4096), k hash functions (1 to 1024), n distinct keys. Source: after Putze,\n"
          "Sanders and Singler 2007.");
  formula(module, "ln_blocked_bloom_false_positive_probability(num_blocks, B, k, n)",
          theory::ln_blocked_bloom_false_positive_probability,
          "The natural logarithm of blocked_bloom_false_positive_probability; -inf for 0, and finite where\n"
          "that underflows.");
  formula(module, "blocked_bloom_false_positive_probability_approximate(num_blocks, B, k, n)",
          theory::blocked_bloom_false_positive_probability_approximate,
          "The same with the approximate formula in each block: faster, and too low by some percent.\n"
          "num_blocks blocks of B bits (1 to 4096), k hash functions (1 to 1024), n distinct keys. Source:\n"
          "after Putze, Sanders and Singler 2007.");
  formula(module, "ln_blocked_bloom_false_positive_probability_approximate(num_blocks, B, k, n)",
          theory::ln_blocked_bloom_false_positive_probability_approximate,
          "The natural logarithm of blocked_bloom_false_positive_probability_approximate; -inf for 0, and\n"
          "finite where that underflows.");
  formula(module, "best_num_hashes_blocked_bloom(num_blocks, B, n)", theory::best_num_hashes_blocked_bloom,
          "The k of 1 to 64 with the lowest exact probability. num_blocks blocks of B bits (1 to 4096), k\n"
          "hash functions (1 to 1024), n distinct keys. Source: after Putze, Sanders and Singler 2007.");
  formula(module, "blocked_bloom_num_blocks_for(target, B, k, n)", theory::blocked_bloom_num_blocks_for,
          "The smallest number of blocks with at most the target probability, in (0, 1). num_blocks blocks\n"
          "of B bits (1 to 4096), k hash functions (1 to 1024), n distinct keys. Source: after Putze,\n"
          "Sanders and Singler 2007.");
  formula(module, "register_bloom_false_positive_probability(num_blocks, num_words, B, k, n)",
          theory::register_bloom_false_positive_probability,
          "A register-blocked Bloom filter: k / num_words positions in each of num_words words (1 to 64) of\n"
          "B bits of a key's block. k a multiple of num_words. Source: the mixture after Putze, Sanders and\n"
          "Singler 2007.");
  formula(module, "ln_register_bloom_false_positive_probability(num_blocks, num_words, B, k, n)",
          theory::ln_register_bloom_false_positive_probability,
          "The natural logarithm of register_bloom_false_positive_probability; -inf for 0, and finite where\n"
          "that underflows.");
  formula(module, "double_hashing_false_positive_probability(scheme, m, k, n)",
          theory::double_hashing_false_positive_probability,
          "Exact, by counting all pairs (triples) of hash values; at most 2^33 steps. scheme: 'plain',\n"
          "'quadratic', 'cubic', 'triple' or 'partition'; m 1 to 2^32, k 1 to 16. Source: ours.");
  formula(module, "double_hashing_num_steps(scheme, m, k)", theory::double_hashing_num_steps,
          "The steps that this takes, one or two nanoseconds each. scheme: 'plain', 'quadratic', 'cubic',\n"
          "'triple' or 'partition'; m 1 to 2^32, k 1 to 16. Source: ours.");
  formula(module, "double_hashing_distinct_positions(scheme, m, k)",
          theory::double_hashing_distinct_positions,
          "Pr(a key has exactly j distinct positions), j = 0 to k, as an array. scheme: 'plain',\n"
          "'quadratic', 'cubic', 'triple' or 'partition'; m 1 to 2^32, k 1 to 16. Source: ours.");
  formula(module, "independent_distinct_positions(m, k)", theory::independent_distinct_positions,
          "The same for k independent uniform positions. k 1 to 1024.");
  formula(module, "partition_double_false_positive_probability(p, k, n)",
          theory::partition_double_false_positive_probability,
          "The partition scheme with double hashing, k parts of p bits, p prime: exact at every n. Source:\n"
          "Kirsch and Mitzenmacher 2008, section 3.");
  formula(module, "ln_partition_double_false_positive_probability(p, k, n)",
          theory::ln_partition_double_false_positive_probability,
          "The natural logarithm of partition_double_false_positive_probability; -inf for 0, and finite\n"
          "where that underflows.");
  formula(module, "rate_deviation_bound(n, lambda_, xi, epsilon, bias)", theory::rate_deviation_bound,
          "Bound on the probability that a filter's rate differs from the limit of its scheme by more than\n"
          "epsilon. Source: Kirsch and Mitzenmacher 2008, Theorem 7.1.");
  formula(module, "measured_rate_deviation_bound(n, lambda_, xi, epsilon, bias, q)",
          theory::measured_rate_deviation_bound,
          "The same for the share of q queries that are false positives. Source: Theorem 7.2, part 3.");
  formula(module, "rate_deviation(n, lambda_, xi, bias, delta)", theory::rate_deviation,
          "The epsilon at which rate_deviation_bound is delta.");
}

}  // namespace tally::python

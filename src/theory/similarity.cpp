#include "tally/theory/similarity.hpp"

#include <algorithm>
#include <cmath>

#include "theory/detail.hpp"

namespace tally::theory {
namespace {

/// What a position of a filter of m positions says of its keys.
struct OccupancyLaw {
  double m = 1;
  double hits_per_key = 1;     // m times the probability that a key hits a given position
  double others_per_line = 0;  // positions that share a line with a given one, but no word of their own
  double shared_hits = 0;      // t/s: of those, how many a key hits that hits the given one, each
  double others_per_word =
      0;  // positions that share a word with a given one, where words have their own positions
  double shared_word_hits = 0;

  /// g(x), for a set by whose keys a position is hit x times on average.
  double variance(double x) const {
    const double independent = x < 1e-4 ? x * x * (0.5 + x / 6) : std::expm1(x) - x;
    if (others_per_line + others_per_word == 0) return independent;
    return independent + others_per_line * std::expm1(x * shared_hits) +
           others_per_word * std::expm1(x * shared_word_hits) - (hits_per_key - 1) * x;
  }
};

Estimate ratio(double part, double whole, double var_part, double var_whole, double covariance) {
  if (whole == 0) return {0, detail::infinity};
  const double share = part / whole;
  const double variance = var_part - 2 * share * covariance + share * share * var_whole;
  return {share, std::sqrt(std::max(0.0, variance)) / whole};
}

SimilarityEstimate estimate(const OccupancyLaw& law, const OccupiedPositions& occupied) {
  const auto hits = [&](std::uint64_t positions) {
    return -std::log1p(-static_cast<double>(positions) / law.m);
  };
  if (static_cast<double>(occupied.either) >= law.m) {
    const Estimate none{detail::infinity, detail::infinity};
    return {none, none, none, none, none, none, none};
  }
  const double a = hits(occupied.a);
  const double b = hits(occupied.b);
  const double u = hits(occupied.either);
  const double z = std::max(0.0, a + b - u);
  const double g_a = law.variance(a);
  const double g_b = law.variance(b);
  const double g_u = law.variance(u);
  const double g_z = law.variance(z);
  const double var_z = std::max(0.0, g_u - g_a - g_b + 2 * g_z);

  const auto keys = [&](double x, double variance) {
    return Estimate{law.m * x / law.hits_per_key, std::sqrt(law.m * variance) / law.hits_per_key};
  };
  const double scale = 1 / std::sqrt(law.m);
  const auto share = [&](double whole, double var_whole, double covariance) {
    Estimate result = ratio(z, whole, var_z, var_whole, covariance);
    result.standard_error *= scale;
    return result;
  };
  return {.num_keys_a = keys(a, g_a),
          .num_keys_b = keys(b, g_b),
          .union_size = keys(u, g_u),
          .intersection_size = keys(z, var_z),
          .jaccard = share(u, g_u, g_a + g_b - g_u),
          .containment_a = share(a, g_a, g_z),
          .containment_b = share(b, g_b, g_z)};
}

void require_occupied(const char* function, std::uint64_t m, const OccupiedPositions& occupied) {
  detail::require(occupied.either <= m, function, "occupied.either", occupied.either, "at most m");
  detail::require(occupied.a <= occupied.either, function, "occupied.a", occupied.a,
                  "at most occupied.either");
  detail::require(occupied.b <= occupied.either, function, "occupied.b", occupied.b,
                  "at most occupied.either");
  detail::require(occupied.either - occupied.a <= occupied.b, function, "occupied.either", occupied.either,
                  "at most occupied.a + occupied.b");
}

/// What a key of a line or word of some bits does to one of them: hits it with s, hits it and another one with t.
struct HitsOfKey {
  double s;
  double t;

  HitsOfKey(std::uint32_t bits, std::uint32_t num_hashes) {
    const double miss = std::exp(num_hashes * std::log1p(-1.0 / bits));  // 0 for one bit
    const double miss_two = bits <= 2 ? 0 : std::exp(num_hashes * std::log1p(-2.0 / bits));
    s = 1 - miss;
    t = bits == 1 || num_hashes == 1 ? 0 : 1 - 2 * miss + miss_two;
  }
};

}  // namespace

SimilarityEstimate estimate_similarity(std::uint64_t m, std::uint32_t k, const OccupiedPositions& occupied) {
  constexpr const char* function = "estimate_similarity";
  detail::require_m_and_k(function, m, k);
  require_occupied(function, m, occupied);
  return estimate({.m = static_cast<double>(m), .hits_per_key = static_cast<double>(k)}, occupied);
}

SimilarityEstimate estimate_similarity_blocked(std::uint64_t num_lines, std::uint32_t line_bits,
                                               std::uint32_t k, const OccupiedPositions& occupied) {
  constexpr const char* function = "estimate_similarity_blocked";
  detail::require_m_and_k(function, num_lines, k);
  detail::require_at_least_1(function, "line_bits", line_bits);
  const std::uint64_t m = num_lines * line_bits;
  require_occupied(function, m, occupied);
  const HitsOfKey hits(line_bits, k);
  return estimate({.m = static_cast<double>(m),
                   .hits_per_key = line_bits * hits.s,
                   .others_per_line = static_cast<double>(line_bits - 1),
                   .shared_hits = hits.t / hits.s},
                  occupied);
}

SimilarityEstimate estimate_similarity_register_blocked(std::uint64_t num_lines, std::uint32_t num_words,
                                                        std::uint32_t word_bits, std::uint32_t k,
                                                        const OccupiedPositions& occupied) {
  constexpr const char* function = "estimate_similarity_register_blocked";
  detail::require_m_and_k(function, num_lines, k);
  detail::require_at_least_1(function, "num_words", num_words);
  detail::require_at_least_1(function, "word_bits", word_bits);
  detail::require(k % num_words == 0, function, "k", k, "a multiple of num_words");
  const std::uint64_t m = num_lines * num_words * word_bits;
  require_occupied(function, m, occupied);
  const HitsOfKey hits(word_bits, k / num_words);
  return estimate({.m = static_cast<double>(m),
                   .hits_per_key = static_cast<double>(num_words) * word_bits * hits.s,
                   .others_per_line = static_cast<double>(num_words - 1) * word_bits,
                   .shared_hits = hits.s,  // words are independent: t = s^2
                   .others_per_word = static_cast<double>(word_bits - 1),
                   .shared_word_hits = hits.t / hits.s},
                  occupied);
}

}  // namespace tally::theory

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tally::experiments {

/// Pr(F) of enhanced double hashing h1 + i h2 + f(i) mod m with any given f, exact at n keys, by counting all pairs of
/// hash values, as tally::theory does for f(i) = 0, i^2 and i^3: k^2 m^2 steps.
///
/// A shift by h1 maps queries to one another, so that they are one for each h2. For each, hits[T] is the number of pairs
/// (g1, g2) whose key sets exactly the query's positions T.
inline double any_offsets_false_positive_probability(const std::vector<std::uint64_t>& f, std::uint64_t m,
                                                     std::uint64_t n) {
  const auto k = static_cast<std::uint32_t>(f.size());
  const std::uint32_t num_sets = 1u << k;
  std::vector<std::uint32_t> hit_by(m);
  std::vector<std::uint64_t> touched;
  const double num_pairs = static_cast<double>(m) * static_cast<double>(m);
  double sum = 0;
  for (std::uint64_t h2 = 0; h2 < m; ++h2) {
    std::vector<double> avoiding(num_sets);  // first: keys that set exactly these positions
    for (std::uint64_t g2 = 0; g2 < m; ++g2) {
      touched.clear();
      std::uint64_t query = 0;  // i h2
      for (std::uint32_t i = 0; i < k; ++i) {
        std::uint64_t key = 0;  // j g2
        for (std::uint32_t j = 0; j < k; ++j) {
          const std::uint64_t g1 = (query + f[i] + 2 * m - key - f[j]) % m;
          if (hit_by[g1] == 0) touched.push_back(g1);
          hit_by[g1] |= 1u << i;
          key = key + g2 < m ? key + g2 : key + g2 - m;
        }
        query = query + h2 < m ? query + h2 : query + h2 - m;
      }
      avoiding[0] += static_cast<double>(m - touched.size());
      for (const std::uint64_t g1 : touched) {
        ++avoiding[hit_by[g1]];
        hit_by[g1] = 0;
      }
    }
    // Keys that set only positions of a set; with the complement: keys that avoid it.
    for (std::uint32_t bit = 1; bit < num_sets; bit *= 2) {
      for (std::uint32_t set = 0; set < num_sets; ++set) {
        if ((set & bit) != 0) avoiding[set] += avoiding[set ^ bit];
      }
    }
    for (std::uint32_t set = 0; set < num_sets; ++set) {
      const double term = std::pow(avoiding[num_sets - 1 - set] / num_pairs, static_cast<double>(n));
      sum += std::popcount(set) % 2 == 0 ? term : -term;
    }
  }
  return sum / static_cast<double>(m);
}

}  // namespace tally::experiments

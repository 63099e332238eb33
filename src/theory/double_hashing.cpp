#include "tally/theory/double_hashing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "theory/detail.hpp"
#include "theory/double_hashing_positions.hpp"

namespace tally::theory {
namespace {

constexpr std::uint32_t max_hashes = 16;
constexpr double max_steps = 0x1p33;

using Offsets = std::array<std::uint64_t, max_hashes>;

/// All hash values of a key except h1, which shifts its positions: h2, and in the triple scheme h3.
struct Steps {
  std::uint64_t h2 = 0;
  std::uint64_t h3 = 0;
};

struct Query {
  Steps steps;
  double share;  // of all queries that are like it
};

std::vector<std::uint64_t> divisors(std::uint64_t m) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t d = 1; d * d <= m; ++d) {
    if (m % d != 0) continue;
    result.push_back(d);
    if (d * d != m) result.push_back(m / d);
  }
  return result;
}

std::vector<std::uint64_t> prime_divisors(std::uint64_t m) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t p = 2; p * p <= m; ++p) {
    if (m % p != 0) continue;
    result.push_back(p);
    while (m % p == 0) m /= p;
  }
  if (m > 1) result.push_back(m);
  return result;
}

/// d times the product of 1 + sign / p over its prime divisors: Euler's phi, or Dedekind's psi.
double phi_or_psi(std::uint64_t d, int sign) {
  auto value = static_cast<double>(d);
  for (const std::uint64_t p : prime_divisors(d)) value *= 1 + sign / static_cast<double>(p);
  return std::round(value);
}

class Positions {
 public:
  Positions(const char* function, DoubleHashing scheme, std::uint64_t m, std::uint32_t k)
      : scheme_(scheme), k_(k), m_(scheme == DoubleHashing::partition ? m / std::max(k, 1u) : m) {
    detail::require(k >= 1 && k <= max_hashes, function, "k", k, "1 to 16");
    detail::require(m >= 1 && m <= std::uint64_t{1} << 32, function, "m", m, "1 to 2^32");
    if (scheme == DoubleHashing::partition) detail::require(m % k == 0, function, "m", m, "a multiple of k");
  }

  std::uint64_t modulus() const { return m_; }
  double num_steps() const {  // values of Steps
    const auto m = static_cast<double>(m_);
    return scheme_ == DoubleHashing::triple ? m * m : m;
  }
  double num_queries() const {
    double sum = 0;
    switch (scheme_) {
      case DoubleHashing::partition:
        return 1;
      case DoubleHashing::plain:
        return static_cast<double>(divisors(m_).size());
      case DoubleHashing::triple:
        for (const std::uint64_t d : divisors(m_)) sum += phi_or_psi(d, +1);
        return sum;
      default:
        return static_cast<double>(m_);
    }
  }
  double cost_of_rate() const {
    return num_queries() * (num_steps() * k_ * k_ + k_ * static_cast<double>(std::uint64_t{1} << k_));
  }

  /// The key's positions minus h1.
  Offsets offsets(Steps steps) const {
    Offsets result{};
    for (std::uint64_t i = 0; i < k_; ++i)
      result[i] = detail::double_hashing_offset(scheme_, i, steps.h2, steps.h3) % m_;
    return result;
  }

  template <class Visit>
  void for_each_steps(Visit visit) const {
    const std::uint64_t num_h3 = scheme_ == DoubleHashing::triple ? m_ : 1;
    for (std::uint64_t h2 = 0; h2 < m_; ++h2) {
      for (std::uint64_t h3 = 0; h3 < num_h3; ++h3) visit(Steps{h2, h3});
    }
  }

  /// One query of each kind. A factor that is invertible modulo m maps the keys of a query to those of
  /// another.
  std::vector<Query> queries() const {
    const auto m = static_cast<double>(m_);
    std::vector<Query> result;
    switch (scheme_) {
      case DoubleHashing::partition:
        result.push_back({{}, 1});
        break;
      case DoubleHashing::plain:
        for (const std::uint64_t d : divisors(m_))
          result.push_back({{m_ / d % m_, 0}, phi_or_psi(d, -1) / m});
        break;
      case DoubleHashing::triple: {
        std::vector<std::uint64_t> units;
        for (std::uint64_t u = 1; u <= m_; ++u) {
          if (std::gcd(u, m_) == 1) units.push_back(u);
        }
        std::vector<bool> is_seen(m_ * m_);
        for_each_steps([&](Steps steps) {
          if (is_seen[steps.h2 * m_ + steps.h3]) return;
          double num_like_it = 0;
          for (const std::uint64_t u : units) {
            const std::uint64_t at = steps.h2 * u % m_ * m_ + steps.h3 * u % m_;
            num_like_it += !is_seen[at];
            is_seen[at] = true;
          }
          result.push_back({steps, num_like_it / m / m});
        });
        break;
      }
      default:
        for_each_steps([&](Steps steps) { result.push_back({steps, 1 / m}); });
    }
    return result;
  }

  /// Pr(n keys set all positions of the query with h1 = 0).
  long double all_set(Steps query, std::uint64_t n) {
    Offsets wanted = offsets(query);
    std::uint32_t num_wanted = k_;
    if (scheme_ != DoubleHashing::partition) {
      std::sort(wanted.begin(), wanted.begin() + k_);
      num_wanted =
          static_cast<std::uint32_t>(std::unique(wanted.begin(), wanted.begin() + k_) - wanted.begin());
    }
    // num_keys[set]: how many values of (h1, steps) set just these of the wanted positions.
    std::vector<long double> num_keys(std::size_t{1} << num_wanted);
    set_by_h1_.resize(m_);
    for_each_steps([&](Steps steps) {
      const Offsets offset = offsets(steps);
      touched_.clear();
      for (std::uint32_t i = 0; i < k_; ++i) {
        const bool is_in_parts = scheme_ == DoubleHashing::partition;
        for (std::uint32_t j = is_in_parts ? i : 0; j < (is_in_parts ? i + 1 : num_wanted); ++j) {
          const std::uint64_t h1 = wanted[j] - offset[i] + (wanted[j] < offset[i] ? m_ : 0);
          if (set_by_h1_[h1] == 0) touched_.push_back(h1);
          set_by_h1_[h1] |= 1u << j;
        }
      }
      for (const std::uint64_t h1 : touched_) num_keys[std::exchange(set_by_h1_[h1], 0)] += 1;
    });
    return covered(num_keys, static_cast<long double>(m_) * num_steps(), n);
  }

 private:
  /// Inclusion and exclusion over the sets T of wanted positions that nothing sets.
  static long double covered(std::vector<long double> num_keys, long double num_all, std::uint64_t n) {
    // From here num_keys[set] is a sum over all subsets of the set but the empty one.
    for (std::size_t bit = 1; bit < num_keys.size(); bit *= 2) {
      for (std::size_t set = 0; set < num_keys.size(); ++set) {
        if (set & bit) num_keys[set] += num_keys[set ^ bit];
      }
    }
    const std::size_t all = num_keys.size() - 1;
    long double sum = 0;
    for (std::size_t missed = 0; missed <= all; ++missed) {
      const long double num_setting = num_keys[all] - num_keys[all ^ missed];
      const long double term = std::exp(static_cast<long double>(n) * std::log1p(-num_setting / num_all));
      sum += std::popcount(missed) % 2 == 0 ? term : -term;
    }
    return sum;
  }

  DoubleHashing scheme_;
  std::uint32_t k_;
  std::uint64_t m_;
  std::vector<std::uint32_t> set_by_h1_;
  std::vector<std::uint64_t> touched_;
};

}  // namespace

double double_hashing_false_positive_probability(DoubleHashing scheme, std::uint64_t m, std::uint32_t k,
                                                 std::uint64_t n) {
  constexpr const char* function = "double_hashing_false_positive_probability";
  Positions positions(function, scheme, m, k);
  detail::require(positions.cost_of_rate() <= max_steps, function, "m", m,
                  "small enough for 2^33 steps (double_hashing_num_steps)");
  if (n == 0) return 0;
  long double sum = 0;
  for (const Query& query : positions.queries()) sum += query.share * positions.all_set(query.steps, n);
  return static_cast<double>(std::clamp(sum, 0.0L, 1.0L));
}

double double_hashing_num_steps(DoubleHashing scheme, std::uint64_t m, std::uint32_t k) {
  return Positions("double_hashing_num_steps", scheme, m, k).cost_of_rate();
}

std::vector<double> double_hashing_distinct_positions(DoubleHashing scheme, std::uint64_t m,
                                                      std::uint32_t k) {
  constexpr const char* function = "double_hashing_distinct_positions";
  const Positions positions(function, scheme, m, k);
  detail::require(positions.num_steps() * k * k <= max_steps, function, "m", m,
                  "small enough for 2^33 steps");
  std::vector<double> share(k + 1);
  if (scheme == DoubleHashing::partition) {
    share[k] = 1;
    return share;
  }
  positions.for_each_steps([&](Steps steps) {
    Offsets offset = positions.offsets(steps);
    std::sort(offset.begin(), offset.begin() + k);
    share[static_cast<std::size_t>(std::unique(offset.begin(), offset.begin() + k) - offset.begin())] += 1;
  });
  for (double& each : share) each /= positions.num_steps();
  return share;
}

std::vector<double> independent_distinct_positions(std::uint64_t m, std::uint32_t k) {
  detail::require_m_and_k("independent_distinct_positions", m, k);
  std::vector<double> share(k + 1);
  share[0] = 1;
  for (std::uint32_t drawn = 0; drawn < k; ++drawn) {
    for (std::uint32_t j = drawn + 1; j-- > 0;) {
      const double is_old = std::min(1.0, static_cast<double>(j) / static_cast<double>(m));
      share[j + 1] += share[j] * (1 - is_old);
      share[j] *= is_old;
    }
  }
  return share;
}

}  // namespace tally::theory

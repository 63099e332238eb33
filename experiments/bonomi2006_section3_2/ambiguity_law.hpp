#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tally/theory/dleft_fluid_limit.hpp"

namespace tally::experiments {

/// How many copies of its remainder a deletion finds beside its own, on average, under one-phase hashing, in the steady
/// state of random replacements with many buckets.
///
/// A key x finds its remainder in its bucket of another subtable if a key of that bucket has it, each with probability
/// 1/R. That key came later: at x's insertion, x would have joined it. So the number is 1/R times that of the younger keys
/// in x's other buckets. Each key is replaced at the rate 1; x is deleted at an age that is exponential with mean 1. A
/// bucket of subtable i with load l receives keys at the rate
///
///     lambda_i(l) = d a prod_{h<i} x_{h,l+1} prod_{h>i} x_{h,l}
///
/// and loses them at the rate l. If it has load l when x is inserted, it has u_i(l) / 2 younger keys when x is deleted,
/// where u_i solves (1 - Q_i) u_i = lambda_i, Q_i the generator of this chain. The loads of x's other buckets at its
/// insertion are those that have not been chosen.
struct AmbiguityLaw {
  double left = 0;   ///< copies left of the own one
  double right = 0;  ///< copies right of it
  double apart = 0;  ///< both together, if the buckets not chosen had average loads
};

inline AmbiguityLaw ambiguity_law(std::uint32_t d, double load, double R) {
  const theory::DLeftLoads x = theory::dleft_loads(d, load, theory::steady_state);
  constexpr std::uint64_t most = 48;  // loads above have no weight
  // The chance that the buckets of all other subtables leave a key to one of load l in subtable i.
  const auto chosen = [&](std::uint32_t i, std::uint64_t l) {
    double product = 1;
    for (std::uint32_t h = 0; h < d; ++h) {
      if (h != i) product *= x.fraction(h, h < i ? l + 1 : l);
    }
    return product;
  };
  std::vector<std::vector<double>> younger(d);
  for (std::uint32_t i = 0; i < d; ++i) {
    const auto rate = [&](std::uint64_t l) { return l == most ? 0 : d * load * chosen(i, l); };
    // (1 + rate + l) u(l) - rate u(l + 1) - l u(l - 1) = rate, a tridiagonal system.
    std::vector<double> factor(most + 1), value(most + 1);
    for (std::uint64_t l = 0; l <= most; ++l) {
      const auto deaths = static_cast<double>(l);
      const double pivot = 1 + rate(l) + deaths - (l == 0 ? 0 : deaths * factor[l - 1]);
      factor[l] = rate(l) / pivot;
      value[l] = (rate(l) + (l == 0 ? 0 : deaths * value[l - 1])) / pivot;
    }
    for (std::uint64_t l = most; l-- > 0;) value[l] += factor[l] * value[l + 1];
    for (double& each : value) each /= 2;
    younger[i] = value;
  }
  AmbiguityLaw law;
  double squares = 0;
  for (std::uint32_t j = 0; j < d; ++j) {
    double share = 0;
    for (std::uint64_t l = 0; l < most; ++l) {
      const double own = x.fraction(j, l) - x.fraction(j, l + 1);
      const double is_chosen = own * chosen(j, l);
      if (is_chosen == 0) continue;
      share += is_chosen;
      for (std::uint32_t i = 0; i < d; ++i) {
        if (i == j) continue;
        const std::uint64_t least = i < j ? l + 1 : l;
        double mean = 0;
        for (std::uint64_t other = least; other < most; ++other)
          mean += (x.fraction(i, other) - x.fraction(i, other + 1)) * younger[i][other];
        (i < j ? law.left : law.right) += is_chosen * mean / x.fraction(i, least) / R;
      }
    }
    squares += share * share;
  }
  law.apart = d * load / 2 * (1 - squares) / R;
  return law;
}

}  // namespace tally::experiments

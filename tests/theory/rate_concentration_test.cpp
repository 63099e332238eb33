#include "tally/theory/rate_concentration.hpp"

#include <functional>
#include <limits>
#include <vector>

#include "tally/theory/bloom.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(RateConcentrationTheory, TheBoundIsHoeffdingsForTheDoobMartingale) {
  // n = 5000, c = 8, k = 6: lambda = 4.5; 2 exp(-2 5000 0.05^2 / 20.25).
  EXPECT_NEAR(rate_deviation_bound(5000, 4.5, 0, 0.05, 0), 0.58192, 1e-5);
  EXPECT_NEAR(rate_deviation_bound(5000, 4.5, 0, 0.06, 0.01), 0.58192, 1e-5);
  EXPECT_NEAR(rate_deviation_bound(5000, 0.5, 20, 0.05, 0), 0.58192, 1e-5);
  EXPECT_EQ(rate_deviation_bound(5000, 4.5, 0, 0.01, 0), 1);
  EXPECT_EQ(rate_deviation_bound(5000, 4.5, 0, 0.05, 0.06), 1);
}

TEST(RateConcentrationTheory, QueriesAddTheirOwnScatter) {
  EXPECT_NEAR(measured_rate_deviation_bound(5000, 4.5, 0, 0.1, 0, 464),
              2 * std::exp(-464 * 0.005) + rate_deviation_bound(5000, 4.5, 0, 0.05, 0), 1e-12);
  EXPECT_EQ(measured_rate_deviation_bound(5000, 4.5, 0, 0.05, 0, 464), 1);
}

TEST(RateConcentrationTheory, TheDeviationInvertsTheBound) {
  for (const double delta : {0.5, 1e-3, 1e-9}) {
    const double epsilon = rate_deviation(5000, 4.5, 1, 1e-4, delta);
    TALLY_EXPECT_RELATIVE(rate_deviation_bound(5000, 4.5, 1, epsilon, 1e-4), delta, 1e-9);
  }
}

TEST(RateConcentrationTheory, TheBoundsByTheRateAreTheirFormulas) {
  EXPECT_NEAR(rate_variance_bound(40000, 6, 0.02), 1.08e-4, 1e-12);
  EXPECT_EQ(rate_variance_bound(8, 6, 0.5), 0.25);  // f (1 - f)
  // 400000 0.01^2 / (2 216 0.03) and / (2 36 (0.12 + 0.01/3)); above f the second has nothing to bound.
  EXPECT_NEAR(rate_deviation_bound_by_rate(400000, 6, 0.02, 0.01),
              std::exp(-3.0864198) + std::exp(-4.5045045), 1e-8);
  EXPECT_NEAR(rate_deviation_bound_by_rate(40000, 6, 0.02, 0.08), std::exp(-5.9259259), 1e-9);
}

/// The rates R of all filters of n keys: positions[h] are those of the h-th of all values that a key may have.
std::vector<double> rates_of_all_filters(const std::vector<std::vector<std::uint32_t>>& positions,
                                         std::uint32_t n) {
  std::vector<std::uint64_t> masks;
  for (const auto& each : positions) {
    masks.push_back(0);
    for (const std::uint32_t position : each) masks.back() |= std::uint64_t{1} << position;
  }
  std::vector<double> rates;
  const std::function<void(std::uint64_t, std::uint32_t)> add_keys = [&](std::uint64_t bits,
                                                                         std::uint32_t left) {
    if (left > 0) {
      for (const std::uint64_t mask : masks) add_keys(bits | mask, left - 1);
      return;
    }
    double found = 0;
    for (const std::uint64_t mask : masks) found += (mask & ~bits) == 0;
    rates.push_back(found / static_cast<double>(masks.size()));
  };
  add_keys(0, n);
  return rates;
}

/// h1 + i h2 modulo `size`, in one array or in k parts.
std::vector<std::vector<std::uint32_t>> double_hashing_positions(std::uint32_t size, std::uint32_t k,
                                                                 bool in_parts) {
  std::vector<std::vector<std::uint32_t>> all;
  for (std::uint32_t h1 = 0; h1 < size; ++h1) {
    for (std::uint32_t h2 = 0; h2 < size; ++h2) {
      all.emplace_back();
      for (std::uint32_t i = 0; i < k; ++i)
        all.back().push_back((h1 + i * h2) % size + (in_parts ? i * size : 0));
    }
  }
  return all;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double share_farther(const std::vector<double>& rates, double centre, double epsilon) {
  double farther = 0;
  for (const double rate : rates) farther += std::fabs(rate - centre) >= epsilon * (1 + 1e-12);
  return farther / static_cast<double>(rates.size());
}

TEST(RateConcentrationTheory, TheBoundsByTheRateHoldForAllSmallFiltersOfTwoSchemes) {
  struct Case {
    std::uint32_t size, k, n;
    bool in_parts;
  };
  for (const Case& each : {Case{3, 2, 1, true},
                           {3, 2, 3, true},
                           {5, 3, 2, true},
                           {5, 2, 3, true},
                           {7, 2, 3, false},
                           {7, 3, 2, false},
                           {8, 3, 3, false},
                           {11, 1, 2, false}}) {
    const auto rates =
        rates_of_all_filters(double_hashing_positions(each.size, each.k, each.in_parts), each.n);
    const std::uint32_t m = each.in_parts ? each.size * each.k : each.size;
    const double f = mean_of(rates);
    double variance = 0;
    for (const double rate : rates) variance += (rate - f) * (rate - f) / static_cast<double>(rates.size());
    EXPECT_LE(variance, rate_variance_bound(m, each.k, f)) << m << " " << each.k << " " << each.n;
    for (double epsilon = 0.01; epsilon < 1; epsilon *= 1.1) {
      EXPECT_LE(share_farther(rates, f, epsilon), rate_deviation_bound_by_rate(m, each.k, f, epsilon))
          << m << " " << each.k << " " << each.n << " " << epsilon;
    }
  }
}

/// Pr(X = x) after `num_throws` into m positions.
std::vector<double> occupancy_law(std::uint32_t m, std::uint64_t num_throws) {
  std::vector<double> law(m + 1);
  law[0] = 1;
  for (std::uint64_t i = 0; i < num_throws; ++i) {
    for (std::uint32_t x = m; x > 0; --x) law[x] = law[x] * x / m + law[x - 1] * (m - x + 1) / m;
    law[0] = 0;
  }
  return law;
}

TEST(RateConcentrationTheory, TheBoundForIndependentPositionsHolds) {
  for (const std::uint32_t m : {2u, 8u, 64u, 512u}) {
    for (const std::uint32_t k : {1u, 2u, 6u}) {
      for (const std::uint64_t n : {1u, 5u, 60u}) {
        const auto law = occupancy_law(m, k * n);
        const double f = false_positive_probability(m, k, n);
        for (double epsilon = 1e-4; epsilon < 1; epsilon *= 1.2) {
          double farther = 0;
          for (std::uint32_t x = 0; x <= m; ++x)
            farther += std::fabs(std::pow(x / static_cast<double>(m), k) - f) >= epsilon ? law[x] : 0;
          const double bound = rate_deviation_bound_independent(m, k, n, epsilon);
          EXPECT_LE(farther, bound * (1 + 1e-9)) << m << " " << k << " " << n << " " << epsilon;
        }
      }
    }
  }
}

TEST(RateConcentrationTheory, TheVarianceOfLargeFiltersIsThatOfTheirSetBits) {
  for (const std::uint32_t k : {1u, 3u, 6u, 11u}) {
    double last = 1;
    for (const std::uint64_t n : {500u, 5000u}) {
      const std::uint64_t m = 8 * n;
      // E[(X/m)^(2k)] after k n throws is the rate of 2k positions and half as many keys.
      const double mean = false_positive_probability_occupancy(m, k, n);
      const double exact = false_positive_probability_occupancy(m, 2 * k, n / 2) - mean * mean;
      const double error = std::fabs(rate_variance_approximate(m, k, n) / exact - 1);
      EXPECT_LT(error, 0.2 * last) << k << " " << n;  // O(1/m)
      last = error;
      EXPECT_LT(exact, rate_variance_bound(m, k, mean));
    }
    EXPECT_LT(last, 2e-3) << k;
  }
  EXPECT_EQ(rate_variance_approximate(100, 3, 0), 0);
  TALLY_EXPECT_RELATIVE(rate_variance_approximate(1u << 30, 1, 1000), 0x1p-30 * 0x1p-60 * 1e6 / 2, 1e-5);
}

TEST(RateConcentrationTheory, BadParametersAreRefusedByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 0, 0, 0.1, 0), "lambda");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, nan, 0, 0.1, 0), "lambda");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 1, -1, 0.1, 0), "xi");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 1, 0, 0, 0), "epsilon");
  TALLY_EXPECT_REFUSED(measured_rate_deviation_bound(1, 1, 0, nan, 0, 1), "epsilon");
  TALLY_EXPECT_REFUSED(rate_deviation_bound(1, 1, 0, 1, -1), "bias");
  TALLY_EXPECT_REFUSED(rate_deviation(0, 1, 0, 0, 0.1), "n");
  TALLY_EXPECT_REFUSED(rate_deviation(1, 1, 0, 0, 1), "delta");
  TALLY_EXPECT_REFUSED(rate_variance_bound(0, 1, 0.1), "m");
  TALLY_EXPECT_REFUSED(rate_variance_bound(1, 1025, 0.1), "k");
  TALLY_EXPECT_REFUSED(rate_variance_bound(1, 1, 1), "f");
  TALLY_EXPECT_REFUSED(rate_deviation_bound_by_rate(1, 1, 0, 0.1), "f");
  TALLY_EXPECT_REFUSED(rate_deviation_bound_by_rate(1, 1, 0.1, nan), "epsilon");
  TALLY_EXPECT_REFUSED(rate_deviation_bound_independent(1, 1, 0, 0.1), "n");
  TALLY_EXPECT_REFUSED(rate_deviation_bound_independent(1, 1, 1, 0), "epsilon");
  TALLY_EXPECT_REFUSED(rate_variance_approximate(0, 1, 1), "m");
  TALLY_EXPECT_REFUSED(rate_variance_approximate(1, 0, 1), "k");
}

}  // namespace
}  // namespace tally::theory

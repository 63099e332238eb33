#include "tally/theory/largest_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tally/theory/tails.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

/// Pr(Binomial(n, 1/s) > c), term by term.
long double tail_by_sum(unsigned n, unsigned s, unsigned c) {
  const long double p = 1.0L / s;
  long double sum = 0;
  for (unsigned x = c + 1; x <= n; ++x) {
    long double term = 1;
    for (unsigned i = 0; i < x; ++i) term *= p * (n - i) / (x - i);
    sum += term * std::pow(1 - p, static_cast<long double>(n - x));
  }
  return sum;
}

TEST(LargestShareTheory, TheBoundIsTheSumOfTheTailsOfAllShares) {
  for (const unsigned n : {0u, 1u, 2u, 7u, 20u, 60u}) {
    for (const unsigned s : {1u, 2u, 3u, 10u, 1000u}) {
      for (unsigned c = 0; c <= n + 1; ++c) {
        const auto bound = static_cast<double>(std::min(1.0L, s * tail_by_sum(n, s, c)));
        TALLY_EXPECT_RELATIVE(probability_of_larger_share(n, s, c), bound, 1e-12);
      }
    }
  }
}

// By enumeration of all s^n outcomes: 1 - (1 - u/s)^s <= P <= u.
TEST(LargestShareTheory, TheTruthIsBetweenTheBoundAndThatOfIndependentShares) {
  for (const auto& keys_and_shares : {std::pair{6u, 2u}, {7u, 2u}, {8u, 3u}, {7u, 4u}, {6u, 6u}}) {
    const unsigned n = keys_and_shares.first;
    const unsigned s = keys_and_shares.second;
    for (unsigned c = 0; c < n; ++c) {
      double num_larger = 0, num_outcomes = 0;
      test::for_every_outcome(s, n, [&](const std::vector<unsigned>& share_of_key) {
        std::vector<unsigned> share_sizes(s);
        for (const unsigned share : share_of_key) ++share_sizes[share];
        num_larger += *std::ranges::max_element(share_sizes) > c;
        ++num_outcomes;
      });
      const double truth = num_larger / num_outcomes;
      const double bound = probability_of_larger_share(n, s, c);
      const auto tail = static_cast<double>(tail_by_sum(n, s, c));
      EXPECT_LE(truth, bound * (1 + 1e-12)) << n << " " << s << " " << c;
      EXPECT_GE(truth * (1 + 1e-12), 1 - std::pow(1 - tail, s)) << n << " " << s << " " << c;
      EXPECT_LE(bound, truth * (1 + s * tail) * (1 + 1e-12)) << n << " " << s << " " << c;
      if (s == 2) {
        TALLY_EXPECT_RELATIVE(bound, truth, 1e-12);
      }
      if (c * s < n) {
        EXPECT_EQ(truth, 1);
        EXPECT_EQ(bound, 1);
      }
    }
  }
}

// By a continued fraction with 60 digits (mpmath).
TEST(LargestShareTheory, ReferenceValuesOfLargeDeviations) {
  struct Reference {
    std::uint64_t n, s, c;
    double ln_bound;
  };
  for (const auto& [n, s, c, ln_bound] : {
           Reference{20, 3, 12, -4.4941918567778347},
           Reference{1000, 16, 100, -10.312596312102260843},
           Reference{100'000, 64, 1800, -16.148499415534219603},
           Reference{100'000'000, 64, 1'569'000, -12.168302724987233716},
           Reference{1'000'000, 1000, 1400, -67.867587129632965849},
           Reference{1'000'000, 1000, 2000, -384.60969790884903},
           Reference{1'000'000, 1000, 5000, -4054.8671889085217},
           Reference{1'000'000'000'000, 2, 500'004'000'000, -34.320298101064307291},
           Reference{1'000'000'000'000, 16, 62'501'250'000, -13.155822123592475349},
           Reference{1'000'000'000'000, 16, 62'510'000'000, -855.15902873817803},
           Reference{1'000'000'000'000, 16384, 61'090'000, -17.817817069712252},
       }) {
    // A relative error below 1e-9 of the probability.
    EXPECT_NEAR(ln_probability_of_larger_share(n, s, c), ln_bound, 1e-9 * std::max(1.0, -ln_bound / 100))
        << n << " " << s << " " << c;
    TALLY_EXPECT_RELATIVE(probability_of_larger_share(n, s, c), std::exp(ln_bound), 1e-9);
  }
}

TEST(LargestShareTheory, BothWaysToTheTailMeet) {
  // ln s Pr around 1e-290, where the second takes over.
  for (const std::uint64_t s : {3u, 64u, 16384u}) {
    double before = 0;
    const std::uint64_t n = 2'000'000'000;
    const double deviation = std::sqrt(static_cast<double>(n / s));
    for (double z = 30; z < 42; z += 0.01) {
      const auto c = n / s + static_cast<std::uint64_t>(z * deviation);
      const double ln_bound = ln_probability_of_larger_share(n, s, c);
      const double by_sum = std::log(static_cast<double>(s)) +
                            ln_binomial_upper_tail(c + 1, static_cast<double>(n), 1 / static_cast<double>(s));
      EXPECT_NEAR(ln_bound, by_sum, 1e-9) << s << " " << z;
      EXPECT_LT(ln_bound, before);
      before = ln_bound;
    }
  }
}

TEST(LargestShareTheory, MoreRoomIsSaferAndMoreKeysAreNot) {
  for (const std::uint64_t s : {1u, 2u, 16u, 16384u}) {
    for (std::uint64_t c = 0; c < 300; ++c) {
      EXPECT_LE(ln_probability_of_larger_share(1000, s, c + 1), ln_probability_of_larger_share(1000, s, c));
      EXPECT_LE(ln_probability_of_larger_share(1000, s, c),
                ln_probability_of_larger_share(1001, s, c) + 1e-12);
    }
  }
}

TEST(LargestShareTheory, TheLargestShareIsTheLeastWithItsProbability) {
  for (const std::uint64_t n : {1u, 2u, 10u, 1000u, 1'000'000u}) {
    for (const std::uint64_t s : {2u, 3u, 64u, 16384u}) {
      std::uint64_t before = n;
      for (const double failure : {1e-300, 1e-20, 1e-6, 0.01, 0.5, 0.999}) {
        const std::uint64_t c = largest_share(n, s, failure);
        EXPECT_LE(probability_of_larger_share(n, s, c), failure);
        EXPECT_GT(probability_of_larger_share(n, s, c - 1), failure) << n << " " << s << " " << failure;
        EXPECT_LE(c, before);
        EXPECT_GE(c * s, n);
        const double mean = static_cast<double>(n) / static_cast<double>(s);
        const double L = std::log(static_cast<double>(s) / failure);
        EXPECT_LE(static_cast<double>(c), std::ceil(mean + L / 3 + std::sqrt(L * L / 9 + 2 * L * mean)));
        before = c;
      }
    }
  }
}

TEST(LargestShareTheory, TheExamplesOfTheCommentsHold) {
  EXPECT_EQ(largest_share(100'000'000, 64, 1e-6), 1'569'368u);  // 0.44% above 1562500
  EXPECT_NEAR(1'569'368 / 1'562'500.0, 1.0044, 5e-5);
  EXPECT_EQ(largest_share(100'000, 64, 1e-6), 1784u);  // 14% above 1562.5
  EXPECT_NEAR(1784 / 1562.5, 1.14, 5e-3);
}

TEST(LargestShareTheory, TheLimits) {
  const std::uint64_t most = std::uint64_t{1} << 40;
  EXPECT_EQ(probability_of_larger_share(0, 5, 0), 0);
  EXPECT_EQ(probability_of_larger_share(5, 1, 4), 1);
  EXPECT_EQ(probability_of_larger_share(5, 1, 5), 0);
  EXPECT_EQ(probability_of_larger_share(5, 3, ~std::uint64_t{0}), 0);
  EXPECT_EQ(ln_probability_of_larger_share(5, 3, 5), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(largest_share(0, 5, 0.5), 0u);
  EXPECT_EQ(largest_share(5, 1, 1e-6), 5u);
  EXPECT_EQ(largest_share(1, 16384, 1e-6), 1u);
  // As many keys as shares: 16384 Pr(Poisson(1) > 7) is 0.17, and with 6 it is 1.4.
  EXPECT_EQ(largest_share(16384, 16384, 0.5), 7u);
  EXPECT_EQ(largest_share(most, 1, 0.5), most);
  EXPECT_GT(largest_share(most, 2, 1e-6), most / 2);
  // With more shares than keys it is the probability that c + 1 keys meet.
  TALLY_EXPECT_RELATIVE(probability_of_larger_share(3, ~std::uint64_t{0}, 1), 3 / 0x1p64, 1e-9);
}

TEST(LargestShareTheory, BadParametersAreRefusedByName) {
  const std::uint64_t too_many = (std::uint64_t{1} << 40) + 1;
  TALLY_EXPECT_REFUSED(probability_of_larger_share(too_many, 2, 1), "n");
  TALLY_EXPECT_REFUSED(probability_of_larger_share(5, 0, 1), "s");
  TALLY_EXPECT_REFUSED(largest_share(too_many, 2, 0.5), "n");
  TALLY_EXPECT_REFUSED(largest_share(5, 0, 0.5), "s");
  for (const double bad : {-0.5, 0.0, 1.0, 1.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    TALLY_EXPECT_REFUSED(largest_share(5, 2, bad), "failure_probability");
  }
}

}  // namespace
}  // namespace tally::theory

#include "tally/theory/double_hashing_expansion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tally/theory/bloom.hpp"

namespace tally::theory {
namespace {

double expansion(DoubleHashing scheme, std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_double_hashing_false_positive_probability_expansion(scheme, m, k, n));
}

double exact(DoubleHashing scheme, std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  return double_hashing_false_positive_probability(scheme, m, k, n);
}

// The worst are numbers of bits with many divisors, which the expansion hardly looks at.
TEST(DoubleHashingExpansion, IsNearTheExactLawOfLargeFilters) {
  for (const std::uint64_t m : {4093u, 4096u, 16'381u, 16'384u}) {
    for (const std::uint32_t k : {1u, 2u, 4u, 8u, 12u}) {
      if (m > 5000 && k > 8) continue;
      for (const double load : {0.3, 0.7, 1.5}) {
        const auto n = static_cast<std::uint64_t>(load * static_cast<double>(m) / k);
        EXPECT_NEAR(expansion(DoubleHashing::plain, m, k, n) / exact(DoubleHashing::plain, m, k, n), 1,
                    80.0 / static_cast<double>(m))
            << m << " " << k << " " << n;
      }
    }
  }
}

TEST(DoubleHashingExpansion, IsNearTheExactLawsOfSmallFilters) {
  for (const DoubleHashing scheme : {DoubleHashing::quadratic, DoubleHashing::cubic}) {
    for (const std::uint64_t m : {256u, 257u}) {
      for (const std::uint32_t k : {2u, 4u, 8u}) {
        for (const std::uint64_t n : {m / (3 * k), m / k}) {
          const double ratio = expansion(scheme, m, k, n) / exact(scheme, m, k, n);
          EXPECT_GT(ratio, 1 - 16.0 / static_cast<double>(m)) << m << " " << k << " " << n;
          EXPECT_LT(ratio, 1.1) << m << " " << k << " " << n;
        }
      }
    }
  }
  for (const std::uint64_t n : {5u, 11u, 23u})
    EXPECT_NEAR(expansion(DoubleHashing::triple, 61, 4, n) / exact(DoubleHashing::triple, 61, 4, n), 1, 0.01);
}

// Where it matters most: half of these false positives come from queries and keys that double hashing makes alike.
TEST(DoubleHashingExpansion, TellsALowRateInASmallFilterFromTheLimit) {
  const double limit = false_positive_probability(4096, 12, 236);
  const double measured = exact(DoubleHashing::plain, 4096, 12, 236);
  EXPECT_GT(measured, 2 * limit);
  EXPECT_NEAR(expansion(DoubleHashing::plain, 4096, 12, 236) / measured, 1, 0.02);
}

TEST(DoubleHashingExpansion, TendsToTheLawOfIndependentPositions) {
  for (const DoubleHashing scheme :
       {DoubleHashing::plain, DoubleHashing::quadratic, DoubleHashing::cubic, DoubleHashing::triple})
    EXPECT_NEAR(expansion(scheme, 1'000'000'007, 10, 70'000'000) /
                    false_positive_probability(1'000'000'007, 10, 70'000'000),
                1, 1e-5);
}

TEST(DoubleHashingExpansion, TakesAnyNumbersAndStaysAProbability) {
  for (const DoubleHashing scheme :
       {DoubleHashing::plain, DoubleHashing::quadratic, DoubleHashing::cubic, DoubleHashing::triple}) {
    EXPECT_EQ(ln_double_hashing_false_positive_probability_expansion(scheme, 100, 3, 0), -INFINITY);
    for (const std::uint64_t m : {1ull, 2ull, 64ull, 1ull << 20, 1ull << 56}) {
      for (const std::uint32_t k : {1u, 2u, 3u, 64u, 1024u}) {
        for (const std::uint64_t n : {1ull, 100ull, 1ull << 50}) {
          const double ln_rate = ln_double_hashing_false_positive_probability_expansion(scheme, m, k, n);
          EXPECT_FALSE(std::isnan(ln_rate)) << m << " " << k << " " << n;
          EXPECT_LE(ln_rate, 0) << m << " " << k << " " << n;
        }
      }
    }
  }
}

TEST(DoubleHashingExpansion, RefusesWhatIsOutOfRange) {
  EXPECT_THROW((void)expansion(DoubleHashing::partition, 100, 4, 5), std::invalid_argument);
  EXPECT_THROW((void)expansion(DoubleHashing::plain, 0, 4, 5), std::invalid_argument);
  EXPECT_THROW((void)expansion(DoubleHashing::plain, 100, 0, 5), std::invalid_argument);
  EXPECT_THROW((void)expansion(DoubleHashing::plain, 100, 1025, 5), std::invalid_argument);
}

}  // namespace
}  // namespace tally::theory

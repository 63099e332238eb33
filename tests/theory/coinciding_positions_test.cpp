#include "tally/theory/coinciding_positions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

namespace tally::theory {
namespace {

/// The product of the weights for these positions.
double product_of(const std::vector<std::uint64_t>& positions, std::span<const double> w) {
  std::map<std::uint64_t, std::size_t> hits;
  for (const std::uint64_t position : positions) ++hits[position];
  double product = 1;
  for (const auto& [position, number] : hits) product *= w[std::min(number, w.size()) - 1];
  return product;
}

/// By going through all k positions.
double mean_by_enumeration(std::uint64_t m, std::uint32_t k, std::span<const double> w) {
  std::vector<std::uint64_t> positions(k);
  double sum = 0;
  std::uint64_t num_all = 1;
  for (std::uint32_t i = 0; i < k; ++i) num_all *= m;
  for (std::uint64_t all = 0; all < num_all; ++all) {
    std::uint64_t rest = all;
    for (std::uint64_t& position : positions) {
      position = rest % m;
      rest /= m;
    }
    sum += product_of(positions, w);
  }
  return sum / static_cast<double>(num_all);
}

TEST(CoincidingPositions, AreCountedAsAnEnumerationDoes) {
  const std::array<double, 3> w = {0.2, 0.7, 0.9};
  for (const auto& [m, k] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
           {1, 1}, {1, 6}, {2, 3}, {3, 7}, {5, 5}, {7, 6}, {20, 4}, {40, 3}}) {
    const double exact = mean_by_enumeration(m, k, w);
    EXPECT_NEAR(std::exp(ln_mean_over_coinciding_positions(m, k, w)) / exact, 1, 1e-10) << m << " " << k;
    EXPECT_NEAR(std::exp(ln_mean_over_coinciding_positions(m, k, std::span(w).first(1))) /
                    mean_by_enumeration(m, k, std::span(w).first(1)),
                1, 1e-10)
        << m << " " << k;
  }
}

TEST(CoincidingPositions, HardlyMatterInALargeFilter) {
  const std::array<double, 2> w = {0.5, 1};
  EXPECT_NEAR(ln_mean_over_coinciding_positions(std::uint64_t{1} << 40, 20, w), 20 * std::log(0.5), 1e-9);
  // 45 pairs of positions coincide in one of 1000 keys each, and then two counters less need another key.
  const double factor = std::exp(ln_mean_over_coinciding_positions(1000, 10, w) - 10 * std::log(0.5));
  EXPECT_GT(factor, 1 + 0.045 * 3);
  EXPECT_LT(factor, std::exp(0.045 * 3));
}

TEST(CoincidingPositions, TakeManyHashesAndSmallWeights) {
  for (const double least : {1e-300, 1e-10, 0.5, 1.0}) {
    const std::array<double, 2> w = {least, 1};
    for (const std::uint64_t m : {1ull, 100ull, 1ull << 50}) {
      for (const std::uint32_t k : {1u, 30u, 1024u}) {
        const double ln_mean = ln_mean_over_coinciding_positions(m, k, w);
        EXPECT_FALSE(std::isnan(ln_mean)) << least << " " << m << " " << k;
        EXPECT_LE(ln_mean, 0);
      }
    }
  }
}

/// The mean by going through all hash values but h1, without that of positions that are never the same.
double counted_gain(DoubleHashing scheme, std::uint64_t m, std::uint64_t k, std::span<const double> w) {
  double sum = 0;
  for (std::uint64_t h2 = 0; h2 < m; ++h2) {
    for (std::uint64_t h3 = 0; h3 < m; ++h3) {
      std::vector<std::uint64_t> positions;
      for (std::uint64_t i = 0; i < k; ++i) {
        std::uint64_t position = i * h2;
        if (scheme == DoubleHashing::quadratic) position += i * i;
        if (scheme == DoubleHashing::cubic) position += i * i * i;
        if (scheme == DoubleHashing::triple && i > 0) position += i * (i - 1) / 2 * h3;
        positions.push_back(position % m);
      }
      sum += product_of(positions, w);
    }
  }
  return sum / static_cast<double>(m * m) - std::pow(w[0], k);
}

TEST(CoincidingPositions, UnderDoubleHashingAreCountedInSmallFilters) {
  const std::array<double, 3> w = {0.3, 0.8, 1};
  for (const std::uint64_t m : {5u, 16u, 30u, 61u}) {
    for (const std::uint64_t k : {2u, 4u, 8u}) {
      for (const DoubleHashing scheme :
           {DoubleHashing::plain, DoubleHashing::quadratic, DoubleHashing::cubic, DoubleHashing::triple}) {
        EXPECT_NEAR(double_hashing_gain_by_coinciding_positions(scheme, m, static_cast<std::uint32_t>(k), w),
                    counted_gain(scheme, m, k, w), 1e-12)
            << m << " " << k << " " << static_cast<int>(scheme);
      }
    }
  }
  EXPECT_EQ(double_hashing_gain_by_coinciding_positions(DoubleHashing::partition, 60, 4, w), 0);
}

// Too many hash values to count. A key with h2 = h3 = 0 has one position, which one key in m^2 is; and so for small divisors
// of m. The worst of more sizes than these was 1.14, with 100 positions and 7 hashes.
TEST(CoincidingPositions, OfTripleHashingAreThoseOfSmallOrdersToo) {
  for (const std::uint64_t m : {100u, 128u, 251u, 256u}) {
    for (const std::uint32_t k : {7u, 11u}) {
      for (const double covered : {0.02, 0.1, 0.3}) {
        const std::array<double, 1> w = {covered};
        const double all = std::pow(covered, k);
        const double ratio =
            (all + double_hashing_gain_by_coinciding_positions(DoubleHashing::triple, m, k, w)) /
            (all + counted_gain(DoubleHashing::triple, m, k, w));
        EXPECT_GT(ratio, 0.95) << m << " " << k << " " << covered;
        EXPECT_LT(ratio, 1.15) << m << " " << k << " " << covered;
      }
    }
  }
}

// Counted with 8191 positions, expanded with 65,537: m times the gain hardly depends on m.
TEST(CoincidingPositions, UnderDoubleHashingAreExpandedInLargeFilters) {
  const std::array<double, 2> w = {0.3, 1};
  for (const DoubleHashing scheme : {DoubleHashing::quadratic, DoubleHashing::cubic}) {
    const double counted = 8191 * double_hashing_gain_by_coinciding_positions(scheme, 8191, 8, w);
    const double expanded = 65'537 * double_hashing_gain_by_coinciding_positions(scheme, 65'537, 8, w);
    EXPECT_NEAR(expanded / counted, 1, 0.01);
  }
}

TEST(SharedPositions, OfCubicAndPartitionAreThoseOfOneKeyWithAll) {
  const std::array<double, 2> numbers = {5, 2};
  const std::array<double, 2> ratios = {3, 1};
  const double together = 81 - 1 - 4 * 2 - 6 * 4;
  EXPECT_DOUBLE_EQ(double_hashing_gain_by_shared_positions(DoubleHashing::cubic, 100, 4, numbers, ratios),
                   5e-4 * together);
  EXPECT_DOUBLE_EQ(double_hashing_gain_by_shared_positions(DoubleHashing::partition, 400, 4, numbers, ratios),
                   5e-4 * (81 - 1 - 4 * 2));
  EXPECT_EQ(double_hashing_gain_by_shared_positions(DoubleHashing::triple, 100, 4, numbers, ratios), 0);
  EXPECT_EQ(double_hashing_gain_by_shared_positions(DoubleHashing::plain, 100, 2, numbers, ratios), 0);
}

// With one kind of key, this is what the expansion for bits has, where few keys share positions.
TEST(SharedPositions, GrowWithTheStepsThatKeepInStep) {
  const std::array<double, 1> numbers = {1};
  const std::array<double, 1> ratios = {10};
  const auto gain = [&](DoubleHashing scheme) {
    return double_hashing_gain_by_shared_positions(scheme, 1000, 8, numbers, ratios);
  };
  EXPECT_GT(gain(DoubleHashing::plain), gain(DoubleHashing::quadratic));
  EXPECT_GT(gain(DoubleHashing::quadratic), gain(DoubleHashing::cubic));
  EXPECT_GT(gain(DoubleHashing::cubic), 0);
}

TEST(SharedPositions, RefuseWhatIsOutOfRange) {
  const std::array<double, 1> one = {1};
  const std::array<double, 2> two = {1, 1};
  const std::array<double, 1> less = {0.5};
  const std::array<double, 1> negative = {-1};
  const auto call = [](std::span<const double> numbers, std::span<const double> ratios) {
    return double_hashing_gain_by_shared_positions(DoubleHashing::plain, 100, 4, numbers, ratios);
  };
  EXPECT_THROW((void)call(one, two), std::invalid_argument);
  EXPECT_THROW((void)call(one, less), std::invalid_argument);
  EXPECT_THROW((void)call(negative, one), std::invalid_argument);
}

TEST(CoincidingPositions, RefuseWhatIsOutOfRange) {
  const std::array<double, 1> w = {0.5};
  const std::array<double, 1> none = {0};
  const std::array<double, 2> large = {0.5, 1.5};
  EXPECT_THROW((void)ln_mean_over_coinciding_positions(0, 1, w), std::invalid_argument);
  EXPECT_THROW((void)ln_mean_over_coinciding_positions(10, 0, w), std::invalid_argument);
  EXPECT_THROW((void)ln_mean_over_coinciding_positions(10, 1025, w), std::invalid_argument);
  EXPECT_THROW((void)ln_mean_over_coinciding_positions(10, 2, {}), std::invalid_argument);
  EXPECT_THROW((void)ln_mean_over_coinciding_positions(10, 2, none), std::invalid_argument);
  EXPECT_THROW((void)ln_mean_over_coinciding_positions(10, 2, large), std::invalid_argument);
  EXPECT_THROW((void)double_hashing_gain_by_coinciding_positions(DoubleHashing::plain, 0, 2, w),
               std::invalid_argument);
}

}  // namespace
}  // namespace tally::theory

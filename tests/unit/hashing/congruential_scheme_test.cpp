#include "tally/hashing/congruential_scheme.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <set>
#include <vector>

#include "support/random.hpp"
#include "support/schemes.hpp"

namespace tally {
namespace {

constexpr std::uint64_t last = ~std::uint64_t{0};
constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

// Digests that would make h1 + i h2 stand still, or step back and forth.
const std::vector<Hash128> awkward_digests = {{0, 0},       {0, 1},       {0, last},         {last, 0},
                                              {last, last}, {0, top_bit}, {top_bit, 0},      {1, last},
                                              {1, 2},       {2, 1},       {top_bit, top_bit}};

TEST(CongruentialScheme, NoDigestHasEqualStates) {
  for (const Hash128 digest : awkward_digests) {
    CongruentialSequence sequence(digest.low, digest.high);
    std::set<std::uint64_t> states;
    for (std::uint32_t i = 0; i < max_num_hashes; ++i) states.insert(sequence.next());
    EXPECT_EQ(states.size(), max_num_hashes);
  }
}

// A generator of full period runs through all residues modulo every lower power of two too.
TEST(CongruentialScheme, TheLow16BitsTakeEveryValueOnceInAPeriod) {
  for (const Hash128 digest : awkward_digests) {
    CongruentialSequence sequence(digest.low, digest.high);
    std::vector<bool> seen(65536);
    for (int i = 0; i < 65536; ++i) seen[sequence.next() % 65536] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 65536);
  }
}

TEST(CongruentialScheme, NoDigestKeepsAllItsPositionsInOnePlace) {
  for (const Hash128 digest : awkward_digests) {
    const auto positions = test::positions_of<CongruentialScheme>({1 << 20, 16, 0}, digest);
    EXPECT_GE(std::set<std::uint64_t>(positions.begin(), positions.end()).size(), 14u)
        << digest.low << " " << digest.high;
  }
}

double chi_square(const std::vector<std::uint64_t>& hits, double expected) {
  double sum = 0;
  for (const std::uint64_t hit : hits) {
    const double difference = static_cast<double>(hit) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

// 8 + 28 two-sided tests, 99.9% for all of them together: each at 1 - 0.001 / 36.
TEST(CongruentialScheme, PositionsAndPairsOfPositionsAreUniform) {
  constexpr std::uint64_t side = 16;
  constexpr std::uint32_t k = 8;
  constexpr int num_digests = 100000;
  constexpr double tail = 0.001 / 36 / 2;
  std::vector<std::vector<std::uint64_t>> single(k, std::vector<std::uint64_t>(side));
  std::vector<std::vector<std::uint64_t>> pairs(k * k, std::vector<std::uint64_t>(side * side));
  test::Random random(2026);
  for (int n = 0; n < num_digests; ++n) {
    const auto positions = test::positions_of<CongruentialScheme>({side, k, 0}, random.digest());
    for (std::uint32_t i = 0; i < k; ++i) {
      ++single[i][positions[i]];
      for (std::uint32_t j = i + 1; j < k; ++j) ++pairs[i * k + j][positions[i] * side + positions[j]];
    }
  }
  const auto expect_uniform = [&](const std::vector<std::uint64_t>& hits) {
    const boost::math::chi_squared law(static_cast<double>(hits.size() - 1));
    const double statistic = chi_square(hits, num_digests / static_cast<double>(hits.size()));
    EXPECT_GT(statistic, quantile(law, tail));
    EXPECT_LT(statistic, quantile(complement(law, tail)));
  };
  for (std::uint32_t i = 0; i < k; ++i) {
    expect_uniform(single[i]);
    for (std::uint32_t j = i + 1; j < k; ++j) expect_uniform(pairs[i * k + j]);
  }
}

}  // namespace
}  // namespace tally

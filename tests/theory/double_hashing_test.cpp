#include "tally/theory/double_hashing.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "tally/theory/bloom.hpp"
#include "tally/theory/partition_double.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

constexpr DoubleHashing all_schemes[] = {DoubleHashing::plain, DoubleHashing::quadratic, DoubleHashing::cubic,
                                         DoubleHashing::triple, DoubleHashing::partition};

/// The positions as the papers write them, from digits h1, h2, h3 of a number to the base of the modulus.
std::set<unsigned> positions_of(DoubleHashing scheme, unsigned m, unsigned k, unsigned key) {
  const unsigned modulus = scheme == DoubleHashing::partition ? m / k : m;
  const unsigned h1 = key % modulus;
  const unsigned h2 = key / modulus % modulus;
  const unsigned h3 = key / modulus / modulus;
  std::set<unsigned> positions;
  for (unsigned i = 0; i < k; ++i) {
    switch (scheme) {
      case DoubleHashing::plain:
        positions.insert((h1 + i * h2) % m);
        break;
      case DoubleHashing::quadratic:
        positions.insert((h1 + i * h2 + i * i) % m);
        break;
      case DoubleHashing::cubic:
        positions.insert((h1 + i * h2 + i * i * i) % m);
        break;
      case DoubleHashing::triple:
        positions.insert((h1 + i * h2 + i * (i - 1) / 2 * h3) % m);
        break;
      case DoubleHashing::partition:
        positions.insert(i * modulus + (h1 + i * h2) % modulus);
        break;
    }
  }
  return positions;
}

unsigned num_keys_of(DoubleHashing scheme, unsigned m, unsigned k) {
  const unsigned modulus = scheme == DoubleHashing::partition ? m / k : m;
  return scheme == DoubleHashing::triple ? modulus * modulus * modulus : modulus * modulus;
}

TEST(DoubleHashingTheory, ItIsTheShareOfAllOutcomesAtTinySizes) {
  struct Case {
    unsigned m, k, n;
  };
  for (const DoubleHashing scheme : all_schemes) {
    for (const auto [m, k, n] : {Case{6, 3, 2}, Case{5, 5, 2}, Case{8, 4, 2}, Case{4, 2, 3}, Case{1, 1, 2}}) {
      if (scheme == DoubleHashing::triple && m == 8) continue;
      if (scheme == DoubleHashing::partition && m % k != 0) continue;
      const unsigned num_keys = num_keys_of(scheme, m, k);
      std::vector<std::set<unsigned>> positions;
      for (unsigned key = 0; key < num_keys; ++key) positions.push_back(positions_of(scheme, m, k, key));
      double positives = 0;
      double outcomes = 0;
      test::for_every_outcome(num_keys, n, [&](const std::vector<unsigned>& keys) {
        std::set<unsigned> bits;
        for (const unsigned key : keys) bits.insert(positions[key].begin(), positions[key].end());
        for (const std::set<unsigned>& query : positions) {
          positives += std::includes(bits.begin(), bits.end(), query.begin(), query.end());
        }
        outcomes += num_keys;
      });
      TALLY_EXPECT_RELATIVE(double_hashing_false_positive_probability(scheme, m, k, n), positives / outcomes,
                            1e-12)
          << " scheme " << static_cast<int>(scheme) << " m " << m << " k " << k;
    }
  }
}

TEST(DoubleHashingTheory, InPartsOfAPrimeItIsTheFormulaOfSection3) {
  for (const std::uint64_t n : {1, 10, 100, 1000}) {
    const double formula = partition_double_false_positive_probability(139, 11, n);
    EXPECT_NEAR(double_hashing_false_positive_probability(DoubleHashing::partition, 11 * 139, 11, n), formula,
                1e-14);
  }
}

TEST(DoubleHashingTheory, ItTendsToTheLimitAsTheFilterGrows) {
  const double limit = false_positive_probability_approximate(8000000, 6, 1000000);
  double last = 3;
  for (const std::uint64_t n : {13, 130, 1300}) {
    const double excess =
        double_hashing_false_positive_probability(DoubleHashing::plain, 8 * n, 6, n) / limit - 1;
    EXPECT_GT(excess, 0);
    EXPECT_LT(excess, 0.2 * last);
    last = excess;
  }
  EXPECT_LT(last, 0.01);
}

// The numbers that the pages state.
TEST(DoubleHashingTheory, ASmallFilterPaysMuchForDegenerateSteps) {
  const auto ratio = [](DoubleHashing scheme, std::uint64_t n) {
    return double_hashing_false_positive_probability(scheme, 16 * n, 11, n) /
           false_positive_probability_occupancy(16 * n, 11, n);
  };
  EXPECT_NEAR(ratio(DoubleHashing::plain, 100), 2.998, 0.001);
  EXPECT_NEAR(ratio(DoubleHashing::plain, 25), 8.959, 0.001);
  EXPECT_NEAR(ratio(DoubleHashing::quadratic, 25), 3.831, 0.001);
  EXPECT_NEAR(ratio(DoubleHashing::cubic, 25), 1.713, 0.001);
  // 10,000 bits, 8 a key.
  const double independent = false_positive_probability_occupancy(10000, 6, 1250);
  EXPECT_NEAR(double_hashing_false_positive_probability(DoubleHashing::plain, 10000, 6, 1250) / independent,
              1.0057, 0.0001);
  EXPECT_NEAR(partition_double_false_positive_probability(1663, 6, 1250) / independent, 1.0221, 0.0001);
}

TEST(DoubleHashingTheory, DistinctPositionsAreThoseOfAllSteps) {
  for (const DoubleHashing scheme : all_schemes) {
    for (const unsigned m : {6u, 7u, 12u}) {
      for (const unsigned k : {1u, 3u, 6u}) {
        if (scheme == DoubleHashing::partition && m % k != 0) continue;
        std::vector<double> counted(k + 1);
        const unsigned num_keys = num_keys_of(scheme, m, k);
        for (unsigned key = 0; key < num_keys; ++key) counted[positions_of(scheme, m, k, key).size()] += 1;
        const std::vector<double> share = double_hashing_distinct_positions(scheme, m, k);
        ASSERT_EQ(share.size(), counted.size());
        for (unsigned j = 0; j <= k; ++j) EXPECT_NEAR(share[j], counted[j] / num_keys, 1e-13) << j;
      }
    }
  }
}

TEST(DoubleHashingTheory, DoubleHashingCollapsesWhereTheStepHasASmallOrder) {
  // The number of steps of order d is Euler's phi(d), for d that divides m: 1, 1, 2, 2, 4, 2, 6, 4, 6, 4 for 1 to 10.
  const auto collapsed = [](std::uint64_t m) {
    return 1 - double_hashing_distinct_positions(DoubleHashing::plain, m, 11).back();
  };
  EXPECT_NEAR(collapsed(2521), 1.0 / 2521, 1e-12);   // prime
  EXPECT_NEAR(collapsed(2048), 8.0 / 2048, 1e-12);   // 1 + 1 + 2 + 4
  EXPECT_NEAR(collapsed(2520), 32.0 / 2520, 1e-12);  // every d up to 10 divides it
}

TEST(DoubleHashingTheory, IndependentPositionsAreDistinctAsBirthdaysAre) {
  const std::vector<double> share = independent_distinct_positions(365, 23);
  EXPECT_NEAR(share[23], 0.4927, 1e-4);
  EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1, 1e-14);
  EXPECT_EQ(independent_distinct_positions(1, 5)[1], 1);
  EXPECT_EQ(independent_distinct_positions(3, 5)[4], 0);
}

TEST(DoubleHashingTheory, BadParametersAreRefusedByName) {
  const auto rate = [](DoubleHashing scheme, std::uint64_t m, std::uint32_t k) {
    return double_hashing_false_positive_probability(scheme, m, k, 1);
  };
  TALLY_EXPECT_REFUSED(rate(DoubleHashing::plain, 0, 1), "m");
  TALLY_EXPECT_REFUSED(rate(DoubleHashing::plain, 10, 0), "k");
  TALLY_EXPECT_REFUSED(rate(DoubleHashing::partition, 10, 0), "k");
  TALLY_EXPECT_REFUSED(rate(DoubleHashing::plain, 10, 17), "k");
  TALLY_EXPECT_REFUSED(rate(DoubleHashing::partition, 10, 3), "m");
  TALLY_EXPECT_REFUSED(rate(DoubleHashing::quadratic, 100000, 10), "m");
  TALLY_EXPECT_REFUSED(rate(DoubleHashing::plain, (std::uint64_t{1} << 32) + 1, 1), "m");
  TALLY_EXPECT_REFUSED(double_hashing_distinct_positions(DoubleHashing::triple, 1 << 20, 3), "m");
  TALLY_EXPECT_REFUSED(independent_distinct_positions(0, 3), "m");
  EXPECT_EQ(rate(DoubleHashing::plain, 1, 16), 1);
  EXPECT_EQ(double_hashing_false_positive_probability(DoubleHashing::plain, 10, 3, 0), 0);
}

}  // namespace
}  // namespace tally::theory

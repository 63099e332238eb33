#include "tally/theory/partition_double.hpp"

#include <cmath>

#include "tally/theory/bloom.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(PartitionDoubleTheory, ItIsTheShareOfAllOutcomesAtTinySizes) {
  struct Case {
    std::uint32_t p, k, n;
  };
  for (const auto [p, k, n] : {Case{5, 3, 2}, Case{5, 2, 3}, Case{3, 3, 3}, Case{2, 2, 4}, Case{7, 4, 2}}) {
    double positives = 0;
    double outcomes = 0;
    // Digit i is the pair (h1, h2) of key i; the query has (0, 0), and any other query does as well.
    test::for_every_outcome(p * p, n, [&, p = p, k = k](const std::vector<unsigned>& pairs) {
      bool positive = true;
      for (unsigned part = 0; part < k; ++part) {
        bool hit = false;
        for (const unsigned pair : pairs) hit = hit || (pair / p + part * (pair % p)) % p == 0;
        positive = positive && hit;
      }
      positives += positive;
      ++outcomes;
    });
    TALLY_EXPECT_RELATIVE(partition_double_false_positive_probability(p, k, n), positives / outcomes, 1e-13);
  }
}

TEST(PartitionDoubleTheory, SmallNLiesFarAboveTheLimitAsFigure1Shows) {
  // c = 16, k = 11: parts of m/k = 145.45 and 1454.5 bits; the greatest primes below are 139 and 1453.
  const double limit = false_positive_probability_approximate(16000000, 11, 1000000);
  EXPECT_NEAR(limit, 0.00045871, 5e-9);
  const double at_100 = partition_double_false_positive_probability(139, 11, 100) / limit;
  const double at_1000 = partition_double_false_positive_probability(1453, 11, 1000) / limit;
  EXPECT_NEAR(at_100, 12.296, 0.001);
  EXPECT_NEAR(at_1000, 2.0109, 0.0001);
}

TEST(PartitionDoubleTheory, ItTendsToTheLawOfTheStandardFilter) {
  // p = 2^61 - 1 is prime; 8 bits per key.
  const std::uint64_t p = (std::uint64_t{1} << 61) - 1;
  const std::uint64_t n = p / 8 * 6;
  TALLY_EXPECT_RELATIVE(partition_double_false_positive_probability(p, 6, n), std::pow(-std::expm1(-0.75), 6),
                        1e-12);
}

TEST(PartitionDoubleTheory, ManyPartsStayStable) {
  // k = 1024: the alternating terms reach 1e306, the result is E.
  const double p = 1000003;
  const double same = -std::expm1(1000 * std::log1p(-1 / p / p));
  TALLY_EXPECT_RELATIVE(partition_double_false_positive_probability(1000003, 1024, 1000), same, 1e-14);
  // All hit: 50 keys a position.
  const double value = partition_double_false_positive_probability(1031, 1024, 50000);
  EXPECT_GT(value, 0.999);
  EXPECT_LE(value, 1.0);
  EXPECT_EQ(partition_double_false_positive_probability(11, 3, 0), 0.0);
  EXPECT_EQ(ln_partition_double_false_positive_probability(11, 3, 0),
            -std::numeric_limits<double>::infinity());
}

TEST(PartitionDoubleTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(partition_double_false_positive_probability(1, 1, 1), "p");
  TALLY_EXPECT_REFUSED(partition_double_false_positive_probability(0, 1, 1), "p");
  TALLY_EXPECT_REFUSED(partition_double_false_positive_probability(5, 6, 1), "p");
  TALLY_EXPECT_REFUSED(partition_double_false_positive_probability(5, 0, 1), "k");
  TALLY_EXPECT_REFUSED(ln_partition_double_false_positive_probability(5000, 1025, 1), "k");
}

}  // namespace
}  // namespace tally::theory

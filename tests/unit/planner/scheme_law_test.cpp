#include "tally/planner/scheme_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "support/schemes.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/double_hashing_expansion.hpp"
#include "tally/theory/partition_double.hpp"

namespace tally::test {
namespace {

TEST(SchemeLaw, IndependentPositionsHaveTheOccupancyLaw) {
  for (const std::uint16_t id : {CongruentialScheme::file_id, StandardScheme::file_id}) {
    const SchemeLaw law = false_positive_law(id, 100, 6, 12);
    EXPECT_EQ(law.kind, LawKind::exact);
    EXPECT_EQ(law.ln_false_positive_rate, theory::ln_false_positive_probability_occupancy(100, 6, 12));
  }
}

TEST(SchemeLaw, PartsHaveLawsOfTheirOwn) {
  EXPECT_EQ(false_positive_law(PartitionedScheme::file_id, 102, 6, 12).ln_false_positive_rate,
            theory::ln_false_positive_probability_partitioned(102, 6, 12));
  EXPECT_EQ(false_positive_law(PartitionDoubleScheme::file_id, 6 * 17, 6, 12).ln_false_positive_rate,
            theory::ln_partition_double_false_positive_probability(17, 6, 12));
  // Parts of fewer bits than there are parts are counted: the formula is not for them.
  const SchemeLaw law = false_positive_law(PartitionDoubleScheme::file_id, 6 * 5, 6, 4);
  EXPECT_EQ(law.kind, LawKind::exact);
  EXPECT_EQ(law.ln_false_positive_rate, std::log(theory::double_hashing_false_positive_probability(
                                            theory::DoubleHashing::partition, 30, 6, 4)));
}

TEST(SchemeLaw, DoubleHashingIsCountedWhereThatTakesFewSteps) {
  for (const std::uint16_t id : {DoubleScheme::file_id, EnhancedDoubleQuadraticScheme::file_id,
                                 EnhancedDoubleCubicScheme::file_id, TripleScheme::file_id}) {
    EXPECT_EQ(false_positive_law(id, 64, 3, 16).kind, LawKind::exact) << id;
    const SchemeLaw law = false_positive_law(id, 100'000'000, 7, 10'000'000);
    EXPECT_EQ(law.kind, LawKind::limit) << id;
    EXPECT_EQ(law.ln_false_positive_rate, theory::ln_double_hashing_false_positive_probability_expansion(
                                              *double_hashing_of(id), 100'000'000, 7, 10'000'000));
    EXPECT_NEAR(law.ln_false_positive_rate, theory::ln_false_positive_probability(100'000'000, 7, 10'000'000),
                1e-5);
    EXPECT_EQ(false_positive_law(id, 1000, 17, 50).kind, LawKind::limit) << id;
    EXPECT_EQ(false_positive_law(id, 64, 3, 16, 100).kind, LawKind::limit) << id;
    EXPECT_EQ(false_positive_law(id, 64, 3, 0).ln_false_positive_rate, -INFINITY) << id;
  }
}

TEST(SchemeLaw, ManyHashesInASmallTableWithManyKeysHaveALimitOnly) {
  EXPECT_EQ(false_positive_law(StandardScheme::file_id, 10'000, 1000, 100).kind, LawKind::limit);
  EXPECT_EQ(false_positive_law(StandardScheme::file_id, 1'000'000, 1000, 1000).kind, LawKind::exact);
  EXPECT_EQ(false_positive_law(StandardScheme::file_id, 100'000'000, 7, 10'000'000).kind, LawKind::exact);
}

// What allows the expansion to be called exact where counting takes too many steps.
TEST(SchemeLaw, TheExpansionIsAccurateWhereItCountsAsExact) {
  for (const std::uint32_t k : {2u, 7u, 30u, 100u}) {
    const auto least = static_cast<std::uint64_t>(std::cbrt(1e3 * std::pow(k, 4)));
    for (const std::uint64_t m : {least, 3 * least}) {
      for (const std::uint64_t n : {m / (8 * k), m / (2 * k), m / k, 2 * m / k}) {
        const SchemeLaw law = false_positive_law(StandardScheme::file_id, m, k, n, 0);
        ASSERT_EQ(law.kind, m > least ? LawKind::exact : law.kind);
        EXPECT_NEAR(law.ln_false_positive_rate, theory::ln_false_positive_probability_occupancy(m, k, n),
                    2e-3)
            << m << ' ' << k << ' ' << n;
      }
    }
  }
}

TEST(SchemeLaw, AnUnknownSchemeIsRefused) {
  EXPECT_THROW(false_positive_law(99, 64, 3, 16), std::invalid_argument);
  EXPECT_EQ(double_hashing_of(StandardScheme::file_id), std::nullopt);
}

TEST(FilterLaw, IsThatOfTheSchemeAndOfFingerprints) {
  const FilterShape bloom{BloomShape{.num_bits = 100, .num_hashes = 6}, DefaultScheme::file_id};
  EXPECT_EQ(false_positive_law(bloom, 12).ln_false_positive_rate,
            false_positive_law(DefaultScheme::file_id, 100, 6, 12).ln_false_positive_rate);
  const DLeftShape cells{.buckets_per_subtable = 16, .num_subtables = 4, .cells_per_bucket = 8};
  const SchemeLaw dleft = false_positive_law(FilterShape{cells, RotationBuckets::file_id}, 100);
  EXPECT_EQ(dleft.kind, LawKind::exact);
  // 100 keys among 16 (2^14 - 1) fingerprints, because no remainder is 0: each hits a given one with this probability.
  EXPECT_NEAR(std::exp(dleft.ln_false_positive_rate), -std::expm1(100 * std::log1p(-1.0 / (16 * 16383))),
              1e-9);
  const FilterShape sketch{CountMinShape{.width = 11, .depth = 2}, DefaultRows::file_id};
  EXPECT_THROW((void)false_positive_law(sketch, 1), std::invalid_argument);
}

}  // namespace
}  // namespace tally::test

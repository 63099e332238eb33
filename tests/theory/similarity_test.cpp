#include "tally/theory/similarity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tally/theory/confidence.hpp"
#include "tally/theory/estimate.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(Similarity, TheNumbersOfKeysAreThoseOfOneFilter) {
  for (const std::uint64_t occupied : {0ull, 1ull, 300ull, 5000ull, 9999ull}) {
    const SimilarityEstimate estimate = estimate_similarity(10'000, 4, {occupied, 0, occupied});
    const DistinctKeysEstimate single = estimate_distinct_keys(10'000, 4, 10'000 - occupied);
    TALLY_EXPECT_RELATIVE(estimate.num_keys_a.value, single.num_keys, 1e-12);
    TALLY_EXPECT_RELATIVE(estimate.num_keys_a.standard_error, single.standard_error, 1e-6);
    TALLY_EXPECT_RELATIVE(estimate.union_size.value, single.num_keys, 1e-12);
    EXPECT_EQ(estimate.num_keys_b.value, 0);
    EXPECT_EQ(estimate.intersection_size.value, 0);
  }
}

TEST(Similarity, EqualFiltersAreOfEqualSets) {
  const SimilarityEstimate same = estimate_similarity(1000, 3, {400, 400, 400});
  EXPECT_EQ(same.jaccard.value, 1);
  EXPECT_EQ(same.containment_a.value, 1);
  EXPECT_EQ(same.containment_b.value, 1);
  EXPECT_NEAR(same.jaccard.standard_error, 0, 1e-9);
  EXPECT_NEAR(same.containment_a.standard_error, 0, 1e-9);
  TALLY_EXPECT_RELATIVE(same.intersection_size.value, same.num_keys_a.value, 1e-12);
  TALLY_EXPECT_RELATIVE(same.intersection_size.standard_error, same.num_keys_a.standard_error, 1e-9);
}

TEST(Similarity, PositionsAsExpectedGiveTheSizesExactly) {
  // k |A| / m = 0.25, k |B| / m = 0.5, k |A and B| / m = 0.125.
  constexpr std::uint64_t m = std::uint64_t{1} << 50;
  const auto occupied = [](double x) { return static_cast<std::uint64_t>(-std::expm1(-x) * 0x1p50); };
  const SimilarityEstimate estimate =
      estimate_similarity(m, 8, {occupied(0.25), occupied(0.5), occupied(0.625)});
  TALLY_EXPECT_RELATIVE(estimate.num_keys_a.value, 0x1p45, 1e-12);
  TALLY_EXPECT_RELATIVE(estimate.num_keys_b.value, 0x1p46, 1e-12);
  TALLY_EXPECT_RELATIVE(estimate.intersection_size.value, 0x1p44, 1e-12);
  TALLY_EXPECT_RELATIVE(estimate.jaccard.value, 0.2, 1e-12);
  TALLY_EXPECT_RELATIVE(estimate.containment_a.value, 0.5, 1e-12);
  TALLY_EXPECT_RELATIVE(estimate.containment_b.value, 0.25, 1e-12);
}

TEST(Similarity, IndependentSetsHaveTheVarianceOfTwoIndependentFilters) {
  // With nothing in common, m Var(x(A and B)) = (exp(a) - 1) (exp(b) - 1).
  constexpr std::uint64_t m = 1'000'000;
  const double a = -std::log(0.7);
  const double b = -std::log(0.4);
  const SimilarityEstimate estimate = estimate_similarity(m, 1, {300'000, 600'000, 720'000});
  EXPECT_NEAR(estimate.intersection_size.value, 0, 1e-6);
  TALLY_EXPECT_RELATIVE(estimate.intersection_size.standard_error,
                        std::sqrt(m * std::expm1(a) * std::expm1(b)), 1e-6);
}

TEST(Similarity, LinesOfABlockedFilterDoNotMatterToOneHash) {
  const OccupiedPositions occupied{300, 500, 700};
  const SimilarityEstimate lines = estimate_similarity_blocked(2, 512, 1, occupied);
  const SimilarityEstimate plain = estimate_similarity(1024, 1, occupied);
  TALLY_EXPECT_RELATIVE(lines.jaccard.value, plain.jaccard.value, 1e-9);
  TALLY_EXPECT_RELATIVE(lines.jaccard.standard_error, plain.jaccard.standard_error, 1e-9);
  const SimilarityEstimate many = estimate_similarity_blocked(2, 512, 7, occupied);
  EXPECT_GT(many.jaccard.standard_error, estimate_similarity(1024, 7, occupied).jaccard.standard_error);
}

TEST(Similarity, WordsOfARegisterBlockedFilterActAsLinesOfTheirOwnForOneWord) {
  const OccupiedPositions occupied{300, 500, 700};
  for (const std::uint32_t k : {1u, 2u, 7u}) {
    const SimilarityEstimate words = estimate_similarity_register_blocked(16, 1, 64, k, occupied);
    const SimilarityEstimate lines = estimate_similarity_blocked(16, 64, k, occupied);
    TALLY_EXPECT_RELATIVE(words.jaccard.value, lines.jaccard.value, 1e-12);
    TALLY_EXPECT_RELATIVE(words.jaccard.standard_error, lines.jaccard.standard_error, 1e-12);
    TALLY_EXPECT_RELATIVE(words.num_keys_a.standard_error, lines.num_keys_a.standard_error, 1e-12);
  }
}

TEST(Similarity, AKeyOfARegisterBlockedFilterHitsOneBitOfEveryWord) {
  // m x = 8 n exactly, where n keys hit 8 n bits on average.
  const OccupiedPositions occupied{300, 500, 700};
  const SimilarityEstimate found = estimate_similarity_register_blocked(2, 8, 64, 8, occupied);
  TALLY_EXPECT_RELATIVE(found.num_keys_a.value, -1024 * std::log1p(-300.0 / 1024) / 8, 1e-12);
  EXPECT_GT(found.jaccard.standard_error, estimate_similarity(1024, 8, occupied).jaccard.standard_error);
  TALLY_EXPECT_REFUSED(estimate_similarity_register_blocked(2, 8, 64, 9, occupied), "k");
  TALLY_EXPECT_REFUSED(estimate_similarity_register_blocked(0, 8, 64, 8, occupied), "m");
  TALLY_EXPECT_REFUSED(estimate_similarity_register_blocked(2, 0, 64, 8, occupied), "num_words");
  TALLY_EXPECT_REFUSED(estimate_similarity_register_blocked(2, 8, 0, 8, occupied), "word_bits");
}

TEST(Similarity, AFullFilterHasNoEstimateAndAnEmptyOneNoShare) {
  EXPECT_TRUE(std::isinf(estimate_similarity(100, 3, {50, 80, 100}).jaccard.value));
  EXPECT_TRUE(std::isinf(estimate_similarity(100, 3, {50, 80, 100}).num_keys_a.standard_error));
  const SimilarityEstimate empty = estimate_similarity(100, 3, {0, 0, 0});
  EXPECT_EQ(empty.jaccard.value, 0);
  EXPECT_TRUE(std::isinf(empty.jaccard.standard_error));
}

TEST(Similarity, RefusesNumbersThatContradictEachOther) {
  TALLY_EXPECT_REFUSED(estimate_similarity(0, 1, {}), "m");
  TALLY_EXPECT_REFUSED(estimate_similarity(10, 0, {}), "k");
  TALLY_EXPECT_REFUSED(estimate_similarity(10, 1, {5, 5, 11}), "occupied.either");
  TALLY_EXPECT_REFUSED(estimate_similarity(10, 1, {6, 5, 5}), "occupied.a");
  TALLY_EXPECT_REFUSED(estimate_similarity(10, 1, {5, 6, 5}), "occupied.b");
  TALLY_EXPECT_REFUSED(estimate_similarity(10, 1, {2, 3, 6}), "occupied.either");
  TALLY_EXPECT_REFUSED(estimate_similarity_blocked(10, 0, 1, {}), "line_bits");
}

TEST(NormalDeviations, AreThoseOfTheTables) {
  EXPECT_NEAR(normal_deviations(0.95), 1.959963985, 1e-9);
  EXPECT_NEAR(normal_deviations(0.99), 2.575829304, 1e-9);
  EXPECT_NEAR(normal_deviations(0.6826894921370859), 1, 1e-12);
  TALLY_EXPECT_REFUSED(normal_deviations(1), "confidence");
  TALLY_EXPECT_REFUSED(normal_deviations(0), "confidence");
}

}  // namespace
}  // namespace tally::theory

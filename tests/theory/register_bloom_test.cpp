#include "tally/theory/register_bloom.hpp"

#include <cmath>
#include <limits>

#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/bloom.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(RegisterBloomTheory, ItIsTheMeanOverAllOutcomesAtTinySizes) {
  struct Case {
    std::uint32_t blocks, words, B, k, n;
  };
  for (const auto [blocks, words, B, k, n] :
       {Case{2, 2, 3, 2, 2}, Case{3, 2, 2, 2, 3}, Case{1, 2, 2, 4, 2}, Case{2, 3, 2, 3, 2}}) {
    // One digit a key: its block, then its k positions, in the words in turn.
    const auto choices = static_cast<unsigned>(blocks * std::pow(B, k));
    double sum = 0;
    double outcomes = 0;
    test::for_every_outcome(
        choices, n, [&, blocks = blocks, words = words, B = B, k = k](const std::vector<unsigned>& keys) {
          std::vector<std::vector<bool>> bits(blocks, std::vector<bool>(words * B));
          for (unsigned key : keys) {
            std::vector<bool>& block = bits[key % blocks];
            key /= blocks;
            for (unsigned i = 0; i < k; ++i, key /= B) block[i % words * B + key % B] = true;
          }
          for (const auto& block : bits) {
            double all = 1;
            for (unsigned word = 0; word < words; ++word) {
              double set = 0;
              for (unsigned bit = 0; bit < B; ++bit) set += block[word * B + bit];
              all *= std::pow(set / B, k / words);
            }
            sum += all / blocks;
          }
          ++outcomes;
        });
    TALLY_EXPECT_RELATIVE(register_bloom_false_positive_probability(blocks, words, B, k, n), sum / outcomes,
                          1e-13);
  }
}

TEST(RegisterBloomTheory, OneWordIsABlockedFilter) {
  for (const std::uint32_t k : {1u, 3u, 7u}) {
    for (const std::uint64_t n : {1u, 500u, 20000u}) {
      TALLY_EXPECT_RELATIVE(ln_register_bloom_false_positive_probability(100, 1, 64, k, n),
                            ln_blocked_bloom_false_positive_probability(100, 64, k, n), 1e-13);
    }
  }
}

TEST(RegisterBloomTheory, OneBlockWithOnePositionPerWordIsAFilterOfParts) {
  for (const std::uint64_t n : {1u, 5u, 60u}) {
    TALLY_EXPECT_RELATIVE(ln_register_bloom_false_positive_probability(1, 8, 64, 8, n),
                          ln_false_positive_probability_partitioned(512, 8, n), 1e-12);
  }
}

TEST(RegisterBloomTheory, TenPointThreeBitsPerKeyAreEnoughForOnePercent) {
  constexpr std::uint64_t n = 1'000'000;
  EXPECT_LT(register_bloom_false_positive_probability(n * 103 / 10 / 512, 8, 64, 8, n), 0.01);
  EXPECT_GT(register_bloom_false_positive_probability(n * 10 / 512, 8, 64, 8, n), 0.01);
}

TEST(RegisterBloomTheory, ItRisesWithKeysAndFallsWithBlocks) {
  for (const std::uint32_t k : {8u, 16u}) {
    for (std::uint64_t n = 1; n < 100000; n = n * 3 + 1) {
      const double value = ln_register_bloom_false_positive_probability(100, 8, 64, k, n);
      EXPECT_LE(value, ln_register_bloom_false_positive_probability(100, 8, 64, k, n + 1));
      EXPECT_GE(value, ln_register_bloom_false_positive_probability(101, 8, 64, k, n));
    }
  }
  EXPECT_EQ(ln_register_bloom_false_positive_probability(100, 8, 64, 8, 0),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(register_bloom_false_positive_probability(1, 8, 64, 8, ~std::uint64_t{0}), 1.0);
  // Underflow: one key that a query agrees with in 1024 positions.
  EXPECT_LT(ln_register_bloom_false_positive_probability(1000000, 8, 512, 1024, 1), -1000.0);
  EXPECT_GT(ln_register_bloom_false_positive_probability(1000000, 8, 512, 1024, 1), -3000.0);
}

TEST(RegisterBloomTheory, CrowdedBlocksDoNotHideTheEmptyOnes) {
  // Every key fills its block of 8 words of 2 bits (k = 1024): f is the share of blocks with a key.
  for (const std::uint64_t n : {100u, 1000u, 7000u}) {
    const double truth = -std::expm1(static_cast<double>(n) * std::log1p(-1e-3));
    TALLY_EXPECT_RELATIVE(register_bloom_false_positive_probability(1000, 8, 2, 1024, n), truth, 1e-12);
  }
}

TEST(RegisterBloomTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(0, 8, 64, 8, 1), "num_blocks");
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(1, 0, 64, 8, 1), "num_words");
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(1, 65, 64, 65, 1), "num_words");
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(1, 8, 0, 8, 1), "B");
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(1, 8, 4097, 8, 1), "B");
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(1, 8, 64, 0, 1), "k");
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(1, 8, 64, 12, 1), "k");
  TALLY_EXPECT_REFUSED(register_bloom_false_positive_probability(1, 8, 64, 1032, 1), "k");
}

}  // namespace
}  // namespace tally::theory

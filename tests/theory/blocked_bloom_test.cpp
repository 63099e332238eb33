#include "tally/theory/blocked_bloom.hpp"

#include <cmath>
#include <limits>

#include "tally/theory/bloom.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(BlockedBloomTheory, ItIsTheMeanOverAllOutcomesAtTinySizes) {
  struct Case {
    std::uint32_t blocks, B, k, n;
  };
  for (const auto [blocks, B, k, n] :
       {Case{2, 3, 2, 2}, Case{3, 2, 2, 3}, Case{2, 4, 1, 4}, Case{1, 3, 2, 3}}) {
    // One digit a key: its block, then its k positions.
    const auto choices = static_cast<unsigned>(blocks * std::pow(B, k));
    double sum = 0;
    double outcomes = 0;
    test::for_every_outcome(choices, n,
                            [&, blocks = blocks, B = B, k = k](const std::vector<unsigned>& keys) {
                              std::vector<std::vector<bool>> bits(blocks, std::vector<bool>(B));
                              for (unsigned key : keys) {
                                std::vector<bool>& block = bits[key % blocks];
                                key /= blocks;
                                for (unsigned i = 0; i < k; ++i, key /= B) block[key % B] = true;
                              }
                              for (const auto& block : bits) {
                                double set = 0;
                                for (const bool bit : block) set += bit;
                                sum += std::pow(set / B, k) / blocks;
                              }
                              ++outcomes;
                            });
    TALLY_EXPECT_RELATIVE(blocked_bloom_false_positive_probability(blocks, B, k, n), sum / outcomes, 1e-13);
  }
}

TEST(BlockedBloomTheory, OneBlockIsAStandardFilter) {
  for (const std::uint32_t n : {1u, 5u, 60u}) {
    TALLY_EXPECT_RELATIVE(ln_blocked_bloom_false_positive_probability(1, 512, 6, n),
                          ln_false_positive_probability_occupancy(512, 6, n), 1e-13);
    TALLY_EXPECT_RELATIVE(ln_blocked_bloom_false_positive_probability_approximate(1, 512, 6, n),
                          ln_false_positive_probability(512, 6, n), 1e-13);
  }
}

TEST(BlockedBloomTheory, UnevenBlocksCostAndTheApproximateBlockIsTooLow) {
  // 10 bits per key in lines of 512 bits.
  const std::uint64_t n = 512000;
  for (const std::uint32_t k : {2u, 5u, 7u}) {
    const double blocked = blocked_bloom_false_positive_probability(10000, 512, k, n);
    const double approximate = blocked_bloom_false_positive_probability_approximate(10000, 512, k, n);
    EXPECT_GT(blocked, false_positive_probability(5120000, k, n));
    EXPECT_LT(approximate, blocked);
    EXPECT_GT(approximate, 0.9 * blocked);
  }
}

TEST(BlockedBloomTheory, LargeBlockNumbersTendToThePoissonMixture) {
  // 2^40 blocks, 20 keys a block, against the Poisson mixture summed here.
  double sum = 0;
  for (std::uint64_t j = 1; j < 200; ++j) {
    sum += std::exp(static_cast<double>(j) * std::log(20.0) - 20 - std::lgamma(static_cast<double>(j) + 1)) *
           false_positive_probability_occupancy(512, 8, j);
  }
  TALLY_EXPECT_RELATIVE(
      blocked_bloom_false_positive_probability(std::uint64_t{1} << 40, 512, 8, std::uint64_t{20} << 40), sum,
      1e-10);
}

TEST(BlockedBloomTheory, ItRisesWithKeysAndFallsWithBlocks) {
  for (std::uint64_t n = 1; n < 100000; n = n * 3 + 1) {
    const double value = ln_blocked_bloom_false_positive_probability(100, 512, 5, n);
    EXPECT_LE(value, ln_blocked_bloom_false_positive_probability(100, 512, 5, n + 1));
    EXPECT_GE(value, ln_blocked_bloom_false_positive_probability(101, 512, 5, n));
  }
  EXPECT_EQ(ln_blocked_bloom_false_positive_probability(100, 512, 5, 0),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(blocked_bloom_false_positive_probability(1, 512, 5, ~std::uint64_t{0}), 1.0);
  // Underflow: one key, the query among its 1024 positions of 4096.
  EXPECT_LT(ln_blocked_bloom_false_positive_probability(1000000, 4096, 1024, 1), -1000.0);
  EXPECT_GT(ln_blocked_bloom_false_positive_probability(1000000, 4096, 1024, 1), -3000.0);
}

TEST(BlockedBloomTheory, CrowdedBlocksDoNotHideTheEmptyOnes) {
  // Every key fills its block of 4 bits (k = 200): f is the share of blocks with a key, 0 to 7 keys a block.
  for (const std::uint64_t n : {100u, 1000u, 7000u}) {
    const double truth = -std::expm1(static_cast<double>(n) * std::log1p(-1e-3));
    TALLY_EXPECT_RELATIVE(blocked_bloom_false_positive_probability(1000, 4, 200, n), truth, 1e-12);
  }
  // Blocks of 512 bits with 7 positions a bit: 1 - f is about 8 exp(-7), 0.7%, and a little more for the
  // uneven load.
  const double nearly = ln_blocked_bloom_false_positive_probability(1000, 512, 8, 450000);
  EXPECT_LT(nearly, 0.0);
  EXPECT_GT(nearly, -0.02);
}

TEST(BlockedBloomTheory, TheBestKBeatsEveryOther) {
  for (const std::uint64_t n : {300u, 1000u, 5000u}) {
    const std::uint32_t best = best_num_hashes_blocked_bloom(100, 512, n);
    const double least = ln_blocked_bloom_false_positive_probability(100, 512, best, n);
    for (std::uint32_t k = 1; k <= 40; ++k) {
      EXPECT_LE(least, ln_blocked_bloom_false_positive_probability(100, 512, k, n));
    }
  }
}

TEST(BlockedBloomTheory, TheBlocksForATargetAreEnoughAndOneLessIsNot) {
  for (const double target : {0.5, 0.01, 0.0001}) {
    const std::uint64_t blocks = blocked_bloom_num_blocks_for(target, 512, 6, 10000);
    EXPECT_LE(blocked_bloom_false_positive_probability(blocks, 512, 6, 10000), target);
    EXPECT_GT(blocked_bloom_false_positive_probability(blocks - 1, 512, 6, 10000), target);
  }
  EXPECT_EQ(blocked_bloom_num_blocks_for(0.01, 512, 6, 0), 1u);
}

TEST(BlockedBloomTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(blocked_bloom_false_positive_probability(0, 512, 1, 1), "num_blocks");
  TALLY_EXPECT_REFUSED(blocked_bloom_false_positive_probability(1, 0, 1, 1), "B");
  TALLY_EXPECT_REFUSED(blocked_bloom_false_positive_probability(1, 4097, 1, 1), "B");
  TALLY_EXPECT_REFUSED(blocked_bloom_false_positive_probability(1, 512, 0, 1), "k");
  TALLY_EXPECT_REFUSED(blocked_bloom_false_positive_probability_approximate(1, 512, 1025, 1), "k");
  TALLY_EXPECT_REFUSED(best_num_hashes_blocked_bloom(1, 512, 0), "n");
  for (const double bad : {0.0, 1.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e-300}) {
    TALLY_EXPECT_REFUSED(blocked_bloom_num_blocks_for(bad, 512, 1, 1000), "target");
  }
}

}  // namespace
}  // namespace tally::theory

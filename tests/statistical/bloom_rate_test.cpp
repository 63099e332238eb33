// Measured false positive rates of Bloom filters against theory.
//
// Each cell: fresh filters (a new seed each) of n = 4096 keys, and the same number of queries for keys never
// inserted. 99.9% two-sided for all cells of a test together; cells with a predicted probability >= 1e-4.

#include <gtest/gtest.h>

#include <bitset>

#include "support/expect_rates.hpp"
#include "support/filters.hpp"
#include "tally/filters/shared_duplicate.hpp"
#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/partition_double.hpp"
#include "tally/theory/register_bloom.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t keys_per_filter = 4096;

template <class Scheme>
MeasuredRate measure(const BloomShapeFor<Scheme>& shape, std::uint64_t num_filters, Random& random) {
  MeasuredRate measured(usual_num_queries);
  std::vector<Hash128> keys(keys_per_filter);
  std::vector<Hash128> absent(usual_num_queries);
  for (std::uint64_t i = 0; i < num_filters; ++i) {
    BloomFilter<Scheme> filter(shape, 0);
    for (Hash128& digest : keys) digest = random.digest();
    for (Hash128& digest : absent) digest = random.digest();
    filter.insert_batch(keys);
    const auto found = ask_batch(usual_num_queries,
                                 [&](std::span<bool> results) { filter.may_contain_batch(absent, results); });
    measured.add_filter(static_cast<std::uint64_t>(std::ranges::count(found, true)));
  }
  return measured;
}

template <class Scheme, class Predict>
std::vector<Cell> cells_of_grid(std::uint64_t seed, Predict predict) {
  std::vector<Cell> cells;
  Random random(seed);
  for (const std::uint64_t bits_per_key : {2, 4, 8, 12, 16}) {
    for (const std::uint32_t k : {1u, 2u, 3u, 5u, 7u, 11u}) {
      const BloomShapeFor<Scheme> shape{usable_space<Scheme>(bits_per_key * keys_per_filter, k).num_positions,
                                        k};
      const double predicted = predict(shape.num_bits, k);
      if (predicted < least_tested_probability) continue;
      cells.push_back(
          {std::string(Scheme::name) + " m/n " + std::to_string(bits_per_key) + " k " + std::to_string(k),
           predicted, measure<Scheme>(shape, num_trials(300), random)});
    }
  }
  return cells;
}

double standard_law(std::uint64_t m, std::uint32_t k) {
  return theory::false_positive_probability_occupancy(m, k, keys_per_filter);
}

TEST(BloomRate, TheDefaultSchemeFollowsTheLawOfIndependentHashes) {
  expect_predicted(cells_of_grid<CongruentialScheme>(1, standard_law));
}

TEST(BloomRate, TheStandardSchemeFollowsTheLawOfIndependentHashes) {
  expect_predicted(cells_of_grid<StandardScheme>(2, standard_law));
}

TEST(BloomRate, ThePartitionedSchemeFollowsItsLaw) {
  expect_predicted(cells_of_grid<PartitionedScheme>(3, [](std::uint64_t m, std::uint32_t k) {
    return theory::false_positive_probability_partitioned(m, k, keys_per_filter);
  }));
}

TEST(BloomRate, ThePartitionDoubleSchemeFollowsItsLawAtFiniteN) {
  expect_predicted(cells_of_grid<PartitionDoubleScheme>(7, [](std::uint64_t m, std::uint32_t k) {
    return theory::partition_double_false_positive_probability(m / k, k, keys_per_filter);
  }));
}

TEST(BloomRate, TheBlockedFilterFollowsItsMixture) {
  expect_predicted(cells_of_grid<BlockedScheme>(4, [](std::uint64_t m, std::uint32_t k) {
    return theory::blocked_bloom_false_positive_probability(m / 512, 512, k, keys_per_filter);
  }));
}

// The limit law would pass this test for the blocked filter only if it could not tell the two apart. As many
// trials as that takes, whatever TALLY_TRIALS says.
TEST(BloomRate, TheBlockedFilterDoesNotFollowTheStandardLaw) {
  Random random(5);
  const MeasuredRate measured = measure<BlockedScheme>({16 * keys_per_filter, 7}, 300, random);
  EXPECT_GT(measured.limits(family_confidence).low, standard_law(16 * keys_per_filter, 7));
}

double register_law(std::uint64_t m, std::uint32_t k) {
  return theory::register_bloom_false_positive_probability(m / 512, 8, 64, k, keys_per_filter);
}

TEST(BloomRate, TheRegisterBlockedFilterFollowsItsMixture) {
  std::vector<Cell> cells;
  Random random(8);
  for (const std::uint64_t bits_per_key : {4, 6, 8, 10, 12, 16, 20}) {
    for (const std::uint32_t k : {8u, 16u, 24u}) {
      const BlockedBloomShape shape{bits_per_key * keys_per_filter, k};
      const double predicted = register_law(shape.num_bits, k);
      if (predicted < least_tested_probability) continue;
      cells.push_back({"register-blocked m/n " + std::to_string(bits_per_key) + " k " + std::to_string(k),
                       predicted, measure<RegisterBlockedScheme>(shape, num_trials(300), random)});
    }
  }
  expect_predicted(cells);
}

TEST(BloomRate, TheRegisterBlockedFilterDoesNotFollowTheStandardLaw) {
  Random random(9);
  const MeasuredRate measured = measure<RegisterBlockedScheme>({16 * keys_per_filter, 8}, 300, random);
  EXPECT_GT(measured.limits(family_confidence).low, standard_law(16 * keys_per_filter, 8));
}

double shared_law(const DuplicateShape& shape) {
  return theory::blocked_bloom_false_positive_probability(shape.num_bits / 64, 64, shape.num_hashes,
                                                          keys_per_filter);
}

MeasuredRate measure(const DuplicateShape& shape, std::uint64_t num_filters, Random& random) {
  MeasuredRate measured(usual_num_queries);
  std::vector<Hash128> keys(keys_per_filter);
  std::vector<Hash128> absent(usual_num_queries);
  for (std::uint64_t i = 0; i < num_filters; ++i) {
    SharedDuplicateFilter filter(shape, 0);
    for (Hash128& digest : keys) digest = random.digest();
    for (Hash128& digest : absent) digest = random.digest();
    (void)ask_batch(keys_per_filter,
                    [&](std::span<bool> results) { filter.test_and_insert_batch(keys, results); });
    const auto found = ask_batch(usual_num_queries,
                                 [&](std::span<bool> results) { filter.may_contain_batch(absent, results); });
    measured.add_filter(static_cast<std::uint64_t>(std::ranges::count(found, true)));
  }
  return measured;
}

TEST(BloomRate, TheSharedFilterFollowsTheMixtureOfItsWords) {
  std::vector<Cell> cells;
  Random random(10);
  for (const std::uint64_t bits_per_key : {2, 4, 8, 12, 16, 20}) {
    for (const std::uint32_t k : {1u, 2u, 4u, 5u, 7u, 10u}) {
      const DuplicateShape shape{bits_per_key * keys_per_filter, k};
      if (shared_law(shape) < least_tested_probability) continue;
      cells.push_back({"shared m/n " + std::to_string(bits_per_key) + " k " + std::to_string(k),
                       shared_law(shape), measure(shape, num_trials(300), random)});
    }
  }
  expect_predicted(cells);
}

TEST(BloomRate, TheSharedFilterDoesNotFollowTheLawOfWholeLines) {
  Random random(11);
  EXPECT_GT(
      measure(DuplicateShape{16 * keys_per_filter, 5}, 300, random).limits(family_confidence).low,
      theory::blocked_bloom_false_positive_probability(16 * keys_per_filter / 512, 512, 5, keys_per_filter));
}

// In a filter of 2^44 lines the keys of one line share the 44 high bits of the digest's low half: 20 bits
// are left. Such a line, filled on its own, still follows the law of independent positions.
TEST(BloomRate, ACrowdedLineOfAHugeBlockedFilterFollowsTheLawOfIndependentHashes) {
  std::vector<Cell> cells;
  Random random(6);
  for (const std::uint32_t k : {2u, 4u, 8u}) {
    for (const std::uint64_t keys_in_line : {20, 40, 80}) {
      const BlockedScheme scheme({std::uint64_t{1} << 53, k, 512});
      MeasuredRate measured(10);
      for (std::uint64_t i = 0; i < num_trials(20000); ++i) {
        const std::uint64_t line = random.next() >> 20 << 20;
        const auto digest = [&] { return Hash128{line | random.next() >> 44, random.next()}; };
        std::bitset<512> bits;
        for (std::uint64_t key = 0; key < keys_in_line; ++key) {
          scheme.all_positions(digest(),
                               [&](std::uint64_t position) { return bits.set(position % 512), true; });
        }
        std::uint64_t found = 0;
        for (int query = 0; query < 10; ++query) {
          found +=
              scheme.all_positions(digest(), [&](std::uint64_t position) { return bits[position % 512]; });
        }
        measured.add_filter(found);
      }
      const double predicted = theory::false_positive_probability_occupancy(512, k, keys_in_line);
      if (predicted < least_tested_probability) continue;
      cells.push_back(
          {"k " + std::to_string(k) + " keys " + std::to_string(keys_in_line), predicted, measured});
    }
  }
  expect_predicted(cells);
}

}  // namespace
}  // namespace tally::test

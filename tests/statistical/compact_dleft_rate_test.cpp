// The compact d-left filter measured against its theory. Fresh filters of random keys; fixed seeds; 99.9% two-sided for
// all cells together.
//
// A key that was never inserted is reported present if and only if its fingerprint is that of an inserted key: in either line,
// a mini-bucket and a remainder are those of one fingerprint, because both lines come from permutations. Fingerprints are
// uniform over F = lines per subtable x mini-buckets x 2^remainder_bits values, so the probability is
// 1 - (1 - 1/F)^n for n distinct keys, whatever the load of the lines and the moves.

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "support/compact_dleft.hpp"
#include "support/dleft_rates.hpp"
#include "support/expect_rates.hpp"
#include "support/random.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally::test {
namespace {

std::vector<Hash128> random_digests(std::uint64_t num_keys, Random& random) {
  std::vector<Hash128> keys(num_keys);
  for (Hash128& digest : keys) digest = random.digest();
  return keys;
}

TEST(CompactDLeftRate, FalsePositivesFollowTheFormula) {
  std::vector<Cell> cells;
  Random random(1);
  for (std::uint32_t bits = least_compact_remainder_bits; bits <= max_compact_remainder_bits; ++bits) {
    for (const double load : {0.3, 0.93}) {
      // No power of two.
      const CompactDLeftShape shape{.num_lines_per_subtable = 23, .remainder_bits = bits};
      const auto num_keys = static_cast<std::uint64_t>(load * static_cast<double>(shape.num_cells()));
      constexpr std::uint64_t num_absent = 20'000;
      MeasuredRate measured(num_absent);
      for (std::uint64_t i = 0; i < num_trials(200); ++i) {
        CompactDLeftFilter filter(shape, random.next());
        ASSERT_EQ(num_full_of(filter, random_digests(num_keys, random)), 0u);
        measured.add_filter(num_found(filter, random_digests(num_absent, random)));
      }
      cells.push_back({"r " + std::to_string(bits) + " load " + std::to_string(load),
                       predicted_rate(shape, num_keys), measured});
    }
  }
  expect_predicted(cells);
}

// Half of the keys leave again, and others come, many times: what is left is as if it had come alone.
TEST(CompactDLeftRate, FalsePositivesAfterChurnFollowTheFormula) {
  std::vector<Cell> cells;
  Random random(2);
  for (const std::uint32_t bits : {8u, 9u, 10u}) {
    const CompactDLeftShape shape{.num_lines_per_subtable = 40, .remainder_bits = bits};
    const auto num_keys = static_cast<std::uint64_t>(0.93 * static_cast<double>(shape.num_cells()));
    constexpr std::uint64_t num_absent = 5000;
    MeasuredRate measured(num_absent);
    for (std::uint64_t i = 0; i < num_trials(200); ++i) {
      CompactDLeftFilter filter(shape, random.next());
      std::vector<Hash128> keys = random_digests(num_keys, random);
      ASSERT_EQ(num_full_of(filter, keys), 0u);
      for (std::uint64_t j = 0; j < 3 * num_keys; ++j) {
        Hash128& key = keys[random.below(num_keys)];
        ASSERT_EQ(filter.remove(key), RemoveResult::removed);
        key = random.digest();
        ASSERT_EQ(filter.insert(key), InsertResult::counted);
      }
      ASSERT_EQ(num_found(filter, keys), num_keys);
      measured.add_filter(num_found(filter, random_digests(num_absent, random)));
    }
    cells.push_back({"r " + std::to_string(bits), predicted_rate(shape, num_keys), measured});
  }
  expect_predicted(cells);
}

// The filter's own statement of its rate is exact: the share of all fingerprints that it holds.
TEST(CompactDLeftRate, TheStatisticsStateTheRateOfThisFilter) {
  std::vector<Cell> cells;
  Random random(3);
  CompactDLeftFilter filter({.num_lines_per_subtable = 200, .remainder_bits = 8}, KeyHasher(random.next()));
  ASSERT_EQ(num_full_of(filter, random_digests(17'000, random)), 0u);
  MeasuredRate measured(10'000);
  for (std::uint64_t i = 0; i < num_trials(200); ++i) {
    measured.add_filter(num_found(filter, random_digests(10'000, random)));
  }
  cells.push_back({"one filter", filter.statistics().false_positive_rate, measured});
  expect_predicted(cells);
}

}  // namespace
}  // namespace tally::test

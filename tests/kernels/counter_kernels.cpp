#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "checks.hpp"
#include "random.hpp"
#include "tally/filters/counting_bloom.hpp"

namespace tally::test {
namespace {

using General = detail::GeneralCountingKeys<BlockedScheme>;

/// A filter with kernels, and the same counters changed by the general code.
class Twins {
 public:
  Twins(std::uint64_t num_lines, std::uint32_t num_hashes)
      : filter_({128 * num_lines, num_hashes, 4, 15}, 3),
        general_(position_space(filter_.shape())),
        counters_(128 * num_lines, 4) {}

  void insert_batch(const std::vector<Hash128>& keys) {
    ASSERT_EQ(filter_.insert_batch(keys), general_.insert_batch(3, counters_, keys));
    expect_same_counters();
  }

  void insert_each(const std::vector<Hash128>& keys) {
    for (const Hash128 key : keys) ASSERT_EQ(filter_.insert(key), general_.insert(counters_, key));
    expect_same_counters();
  }

  void remove_batch(const std::vector<Hash128>& keys) {
    std::vector<RemoveResult> results(keys.size());
    std::vector<RemoveResult> expected(keys.size());
    const auto before = filter_.totals();
    filter_.remove_batch(keys, results);
    const std::uint64_t num_refused = general_.remove_batch(3, counters_, keys, expected);
    ASSERT_EQ(results, expected);
    EXPECT_EQ(filter_.totals().num_refused_removes - before.num_refused_removes, num_refused);
    EXPECT_EQ(filter_.totals().num_removes - before.num_removes, keys.size() - num_refused);
    for (const RemoveResult result : results) ++num_results_[static_cast<std::size_t>(result)];
    expect_same_counters();
  }

  void remove_each(const std::vector<Hash128>& keys) {
    for (const Hash128 key : keys) {
      const RemoveResult result = filter_.remove(key);
      ASSERT_EQ(result, general_.remove(counters_, key));
      ++num_results_[static_cast<std::size_t>(result)];
    }
    expect_same_counters();
  }

  void look_up(const std::vector<Hash128>& keys) const {
    std::vector<Count> counts(keys.size());
    filter_.count_batch(keys, counts);
    std::array<bool, 1000> found;
    ASSERT_LE(keys.size(), found.size());
    for (const std::uint64_t theta : {1, 2, 7, 14, 15}) {
      filter_.at_least_batch(keys, theta, std::span(found).first(keys.size()));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const Count expected = general_.count(counters_, keys[i]);
        ASSERT_EQ(counts[i], expected);
        ASSERT_EQ(filter_.count(keys[i]), expected);
        ASSERT_EQ(found[i], expected.value >= theta) << "theta " << theta;
        ASSERT_EQ(filter_.at_least(keys[i], theta), expected.value >= theta);
        ASSERT_EQ(general_.passes(counters_, keys[i], theta), expected.value >= theta);
      }
    }
  }

  /// Indexed by RemoveResult.
  const std::array<std::uint64_t, 3>& num_results() const { return num_results_; }
  std::uint64_t num_saturated() const { return filter_.statistics().num_saturated; }

 private:
  void expect_same_counters() const { ASSERT_EQ(filter_.storage(), counters_); }

  BlockedCountingBloomFilter filter_;
  General general_;
  CounterArray counters_;
  std::array<std::uint64_t, 3> num_results_{};
};

/// Digests of which some repeat, and some have all their positions on one counter, or on few.
std::vector<Hash128> sample_digests(Random& random, std::size_t count) {
  std::vector<Hash128> digests(count);
  for (Hash128& digest : digests) {
    digest = random.digest();
    const std::uint64_t dice = random.below(8);
    if (dice == 0) digest.high = 0x0001000100010001u * random.below(65536);
    if (dice == 1) digest.high = random.below(4) * 0x0000fe000000fe00u;
  }
  for (std::size_t i = 1; i < count; ++i) {
    if (random.below(3) == 0) digests[i] = digests[random.below(i)];
  }
  return digests;
}

}  // namespace

void expect_counter_kernels_as_general_code() {
  std::array<std::uint64_t, 3> num_results{};
  std::uint64_t num_saturated = 0;
  for (std::uint32_t num_hashes = 1; num_hashes <= 16; ++num_hashes) {
    for (const std::uint64_t num_lines : {1, 3, 40}) {
      SCOPED_TRACE("k = " + std::to_string(num_hashes) + ", lines " + std::to_string(num_lines));
      Random random(num_hashes);
      Twins twins(num_lines, num_hashes);
      for (const std::size_t count : {1, 31, 33, 300, 64}) {
        const std::vector<Hash128> keys = sample_digests(random, count);
        const std::vector<Hash128> others = sample_digests(random, count);
        ASSERT_NO_FATAL_FAILURE(twins.insert_batch(keys));
        ASSERT_NO_FATAL_FAILURE(twins.look_up(keys));
        ASSERT_NO_FATAL_FAILURE(twins.look_up(others));
        ASSERT_NO_FATAL_FAILURE(twins.remove_each(others));
        ASSERT_NO_FATAL_FAILURE(twins.remove_batch(others));
        ASSERT_NO_FATAL_FAILURE(twins.insert_each(others));
        ASSERT_NO_FATAL_FAILURE(twins.remove_batch(keys));
      }
      for (std::size_t i = 0; i < 3; ++i) num_results[i] += twins.num_results()[i];
      num_saturated += twins.num_saturated();
    }
  }
  for (const std::uint64_t times : num_results) EXPECT_GT(times, 100u);
  EXPECT_GT(num_saturated, 100u);
}

}  // namespace tally::test

#include "tally/filters/shared_threshold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "expect_refused.hpp"
#include "threads.hpp"

namespace tally::test {
namespace {

constexpr std::size_t num_writers = 4;

std::vector<std::uint64_t> words_of(const ThresholdFilter<>& filter) {
  const auto words = filter.storage().words();
  return {words.begin(), words.end()};
}

TEST(SharedThresholdFilter, ThreadsLeaveWhatPlainInsertionByOneThreadDoes) {
  // 1, 2, 3, 5 and 16 bits a counter, so few counters that threads meet in words and many saturate.
  for (const std::uint64_t threshold : {1U, 2U, 6U, 20U, 1000U}) {
    for (const std::uint32_t num_hashes : {1U, 4U, 7U}) {
      const ThresholdShape shape{.num_counters = 997, .num_hashes = num_hashes, .threshold = threshold};
      const std::vector<std::uint64_t> keys = random_keys(20'000, 500, threshold);
      ThresholdFilter<> expected(shape, 1);
      for (const std::uint64_t key : keys) (void)expected.insert(key);
      SharedThresholdFilter<> filter(shape, 1);
      batches_in_threads(num_writers, keys, [&](std::size_t t, std::span<const std::uint64_t> batch) {
        if (t % 2 == 0) return filter.insert_batch(batch);
        std::vector<Count> counts(batch.size());
        filter.insert_and_count_batch(batch, counts);
      });
      const ThresholdFilter<> built = std::move(filter).release();
      EXPECT_EQ(words_of(built), words_of(expected)) << threshold << ' ' << num_hashes;
      EXPECT_EQ(built.num_insertions(), keys.size());
      EXPECT_EQ(built.shape(), shape);
      EXPECT_EQ(built.hasher(), KeyHasher(1));
    }
  }
}

TEST(SharedThresholdFilter, SomeInsertionOfAKeyAtTheThresholdIsToldSo) {
  // Every key comes exactly theta times, mostly at once in all threads; the filter is so large that no key is
  // helped by others.
  constexpr std::uint64_t threshold = num_writers;
  constexpr std::size_t num_keys = 20'000;
  SharedThresholdFilter<> filter({.num_counters = 1'000'000, .num_hashes = 4, .threshold = threshold}, 1);
  std::vector<std::vector<std::uint64_t>> told(num_writers);
  in_threads(num_writers, [&](std::size_t t) {
    std::vector<Count> counts(batch_size);
    for (std::uint64_t first = 0; first < num_keys; first += batch_size) {
      std::vector<std::uint64_t> batch;
      for (std::uint64_t key = first; key < first + batch_size; ++key) batch.push_back(key);
      filter.insert_and_count_batch(batch, counts);
      for (std::size_t i = 0; i < batch_size; ++i) {
        if (counts[i].value >= threshold) told[t].push_back(batch[i]);
      }
    }
  });
  std::unordered_map<std::uint64_t, int> times;
  for (const auto& keys : told) {
    for (const std::uint64_t key : keys) ++times[key];
  }
  EXPECT_EQ(times.size(), num_keys);
}

TEST(SharedThresholdFilter, ByOneThreadCountsAsThePlainFilterDoesUpToTheThreshold) {
  const ThresholdShape shape{.num_counters = 100'003, .num_hashes = 4, .threshold = 5};
  const std::vector<std::uint64_t> keys = random_keys(30'000, 10'000, 7);
  ThresholdFilter<> plain(shape, 1);
  SharedThresholdFilter<> shared(shape, 1);
  std::vector<Count> expected(keys.size());
  std::vector<Count> counts(keys.size());
  plain.insert_and_count_batch(keys, expected);
  shared.insert_and_count_batch(keys, counts);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(std::min<std::uint64_t>(counts[i].value, 5), std::min<std::uint64_t>(expected[i].value, 5));
  }
}

TEST(SharedThresholdFilter, RefusesConservativeUpdateAndShapesThatAreNone) {
  const auto make = [](const ThresholdShape& shape) { SharedThresholdFilter<> filter(shape, 1); };
  expect_refused(
      [&] {
        make({.num_counters = 10, .num_hashes = 2, .threshold = 2, .update = CounterUpdate::conservative});
      },
      {"SharedThresholdFilter", "update", "conservative", "plain"});
  expect_refused([&] { make({.num_counters = 0, .num_hashes = 2, .threshold = 2}); },
                 {"SharedThresholdFilter", "num_counters"});
  expect_refused([&] { make({.num_counters = 10, .num_hashes = 2}); }, {"threshold"});
}

}  // namespace
}  // namespace tally::test

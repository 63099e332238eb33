#include "tally/filters/shared_duplicate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "expect_refused.hpp"
#include "threads.hpp"

namespace tally::test {
namespace {

constexpr std::size_t num_threads = 4;

TEST(SharedDuplicateFilter, AtMostOneOfAllInsertionsOfAKeyLearnsThatItIsNew) {
  // All threads insert the same keys in the same order, so that they meet. Few bits: they meet in words too.
  constexpr std::uint64_t num_keys = 50'000;
  for (const std::uint64_t num_bits : {64u, 64'000u, 2'048'000u}) {
    SharedDuplicateFilter filter({num_bits, 5}, 1);
    std::vector<std::atomic<int>> num_new(num_keys);
    in_threads(num_threads, [&](std::size_t) {
      bool was_there[batch_size];
      std::vector<std::uint64_t> batch(batch_size);
      for (std::uint64_t first = 0; first < num_keys; first += batch_size) {
        for (std::size_t i = 0; i < batch_size; ++i) batch[i] = first + i;
        filter.test_and_insert_batch(batch, was_there);
        for (std::size_t i = 0; i < batch_size; ++i) num_new[first + i] += !was_there[i];
      }
    });
    EXPECT_TRUE(std::ranges::all_of(num_new, [](const auto& number) { return number <= 1; })) << num_bits;
    if (num_bits > 1'000'000) {
      EXPECT_GT(std::ranges::count_if(num_new, [](const auto& number) { return number == 1; }), 49'000);
    }
  }
}

TEST(SharedDuplicateFilter, ThreadsLeaveWhatOneThreadDoes) {
  const std::vector<std::uint64_t> keys = random_keys(20'000, 10'000, 3);
  for (const std::uint32_t num_hashes : {1u, 5u, 10u}) {
    SharedDuplicateFilter one({6400, num_hashes}, 1);
    SharedDuplicateFilter shared({6400, num_hashes}, 1);
    for (const std::uint64_t key : keys) (void)one.test_and_insert(key);
    batches_in_threads(num_threads, keys, [&](std::size_t, std::span<const std::uint64_t> batch) {
      bool was_there[batch_size];
      shared.test_and_insert_batch(batch, std::span(was_there).first(batch.size()));
      for (const std::uint64_t key : batch) EXPECT_TRUE(shared.may_contain(key));
    });
    EXPECT_EQ(shared.statistics().num_nonzero, one.statistics().num_nonzero);
    for (std::uint64_t key = 0; key < 20'000; ++key)
      ASSERT_EQ(shared.may_contain(key), one.may_contain(key)) << key;
  }
}

TEST(SharedDuplicateFilter, ABatchAnswersAsItsKeysDoOneByOne) {
  SharedDuplicateFilter single({64'000, 4}, 7);
  SharedDuplicateFilter batched({64'000, 4}, 7);
  std::vector<std::uint64_t> keys = random_keys(3001, 2000, 5);  // many twice, some within a window
  const auto was_there = std::make_unique<bool[]>(keys.size());
  batched.test_and_insert_batch(keys, {was_there.get(), keys.size()});
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(was_there[i], single.test_and_insert(keys[i])) << i;
  for (std::uint64_t& key : keys) key += 1000;
  batched.may_contain_batch(keys, {was_there.get(), keys.size()});
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(was_there[i], single.may_contain(keys[i])) << i;
  batched.test_and_insert_batch(std::vector<std::uint64_t>{}, {});
  batched.clear();
  EXPECT_FALSE(batched.may_contain(keys[0]));
  EXPECT_EQ(batched.statistics().num_nonzero, 0u);
}

TEST(SharedDuplicateFilter, RefusesShapesThatAreNone) {
  const auto make = [](const DuplicateShape& shape) { const SharedDuplicateFilter filter(shape, 1); };
  expect_refused(
      [&] {
        make({0, 1});
      },
      {"SharedDuplicateFilter", "num_bits is 0", "64 to 72057594037927936"});
  expect_refused([&] { make({100, 1}); }, {"SharedDuplicateFilter", "num_bits is 100", "a multiple of 64"});
  expect_refused([&] { make({128, 0}); }, {"num_hashes is 0", "1 to 10"});
  expect_refused([&] { make({128, 11}); }, {"num_hashes is 11", "1 to 10"});
}

}  // namespace
}  // namespace tally::test

// What AnyFilter says of each inserted key, and of its size before it grows.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "expect_refused.hpp"
#include "random.hpp"
#include "sample_filters.hpp"
#include "tally/memory.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

using test::describe;
using test::sample_shapes;

std::vector<Hash128> skewed_digests(const KeyHasher& hasher, std::uint64_t num_keys, std::uint64_t universe) {
  test::Random random(5);
  std::vector<Hash128> keys;
  for (std::uint64_t i = 0; i < num_keys; ++i)
    keys.push_back(hasher(random.below(random.between(1, universe))));
  return keys;
}

/// Whether no bit or counter of the key is 0, asked of the filter as any program may.
bool was_there(const AnyFilter& filter, Hash128 key) {
  if (!filter.can_count()) return filter.may_contain(key);
  return filter.count(key).value > 0;
}

/// Inserts the keys one by one.
std::vector<InsertOutcome> insert_each(AnyFilter& filter, std::span<const Hash128> keys) {
  std::vector<InsertOutcome> outcomes;
  for (const Hash128 key : keys) {
    const bool seen = was_there(filter, key);
    const bool is_full = filter.insert(key) == InsertResult::full;
    outcomes.push_back(is_full ? InsertOutcome::full : seen ? InsertOutcome::seen : InsertOutcome::new_key);
  }
  return outcomes;
}

TEST(InsertOutcomes, OfABatchAreThoseOfItsKeysOneByOneAndSoIsTheFilter) {
  for (const FilterShape& shape : sample_shapes()) {
    AnyFilter one_by_one(shape, 42);
    AnyFilter batch(shape, 42);
    // Far more than fit: the small d-left filters become full, and the others have false positives.
    const std::vector<Hash128> keys = skewed_digests(batch.hasher(), 1500, 900);
    std::vector<InsertOutcome> outcomes(keys.size(), InsertOutcome::full);
    const std::size_t cut = 700;
    batch.insert_batch(std::span(keys).first(cut), std::span(outcomes).first(cut));
    batch.insert_batch(std::span(keys).subspan(cut), std::span(outcomes).subspan(cut));
    EXPECT_EQ(outcomes, insert_each(one_by_one, keys)) << describe(shape);
    EXPECT_EQ(serialize(batch), serialize(one_by_one)) << describe(shape);
    EXPECT_EQ(batch.totals().num_full, std::ranges::count(outcomes, InsertOutcome::full));
  }
}

TEST(InsertOutcomes, AKeyTwiceInABatchIsNewAndThenSeen) {
  for (const FilterShape& shape : sample_shapes()) {
    AnyFilter filter(shape, 42);
    const Hash128 a = filter.hasher()("a");
    const std::array keys{a, a};
    std::array<InsertOutcome, 2> outcomes{};
    filter.insert_batch(keys, std::span<InsertOutcome>(outcomes));
    EXPECT_EQ(outcomes, (std::array{InsertOutcome::new_key, InsertOutcome::seen})) << describe(shape);
    filter.insert_batch(keys, std::span<InsertOutcome>(outcomes));
    EXPECT_EQ(outcomes, (std::array{InsertOutcome::seen, InsertOutcome::seen})) << describe(shape);
  }
}

TEST(InsertOutcomes, AnInsertedKeyIsNeverNewAgain) {
  for (const FilterShape& shape : sample_shapes()) {
    AnyFilter filter(shape, 42);
    const std::vector<Hash128> keys = skewed_digests(filter.hasher(), 1000, 200);
    std::vector<InsertOutcome> outcomes(keys.size());
    filter.insert_batch(keys, std::span(outcomes));
    std::set<std::pair<std::uint64_t, std::uint64_t>> inserted;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool is_first = !inserted.contains({keys[i].low, keys[i].high});
      ASSERT_TRUE(is_first || outcomes[i] != InsertOutcome::new_key) << describe(shape) << ", key " << i;
      if (outcomes[i] != InsertOutcome::full) inserted.emplace(keys[i].low, keys[i].high);
    }
  }
}

TEST(InsertOutcomes, ADLeftFilterThatGrowsByItselfSaysThemAllRight) {
  const FilterShape shape{DLeftShape{.buckets_per_subtable = 4, .least_remainder_bits = 10, .grows = true},
                          RotationBuckets::file_id};
  AnyFilter one_by_one(shape, 42);
  AnyFilter batch(shape, 42);
  const std::vector<Hash128> keys = skewed_digests(batch.hasher(), 1500, 2000);
  std::vector<InsertOutcome> outcomes(keys.size());
  batch.insert_batch(keys, std::span(outcomes));
  EXPECT_GT(std::get<DLeftShape>(batch.shape().shape).num_doublings, 1u);
  EXPECT_EQ(outcomes, insert_each(one_by_one, keys));
  EXPECT_EQ(serialize(batch), serialize(one_by_one));
}

TEST(InsertOutcomes, AsManyAsKeysAreNeeded) {
  for (const FilterShape& shape : sample_shapes()) {
    AnyFilter filter(shape, 42);
    const std::vector<Hash128> keys(3, filter.hasher()("a"));
    std::array<InsertOutcome, 2> outcomes{};
    test::expect_refused([&] { filter.insert_batch(keys, std::span<InsertOutcome>(outcomes)); },
                         {"outcomes"});
    EXPECT_EQ(filter, AnyFilter(shape, 42));
    filter.insert_batch({}, std::span<InsertOutcome>());
    EXPECT_EQ(filter, AnyFilter(shape, 42));
  }
}

std::uint64_t taken = 0;
std::uint64_t most_taken = 0;

void* take(std::size_t num_bytes, std::size_t alignment) noexcept {
  taken += num_bytes;
  most_taken = std::max(most_taken, taken);
  return std::aligned_alloc(alignment, num_bytes);
}
void give_back(void* memory, std::size_t num_bytes) noexcept {
  taken -= num_bytes;
  std::free(memory);
}

TEST(BytesAfterGrowth, AreWhatTryGrowTakesAndNothingWhereItDoesNotGrow) {
  std::uint64_t num_growths = 0;
  for (const FilterShape& shape : sample_shapes()) {
    set_memory_source({take, give_back});
    {
      AnyFilter filter = test::filled(shape);
      EXPECT_EQ(filter.bytes_after_growth(), shape.bytes_after_growth());
      if (!filter.can_grow()) {
        EXPECT_EQ(filter.bytes_after_growth(), std::nullopt) << describe(shape);
        continue;
      }
      while (const auto expected = filter.bytes_after_growth()) {
        const std::uint64_t before = filter.shape().num_bytes();
        most_taken = 0;
        ASSERT_TRUE(filter.try_grow()) << describe(shape);
        ++num_growths;
        EXPECT_EQ(filter.shape().num_bytes(), *expected) << describe(shape);
        EXPECT_EQ(std::as_bytes(filter.words()).size() + std::as_bytes(filter.side_words()).size(),
                  *expected);
        EXPECT_GE(taken, *expected);
        EXPECT_LT(taken, *expected + 2 * 64);  // blocks are whole lines
        EXPECT_LE(most_taken, *expected + before + 3 * 64);
      }
      EXPECT_FALSE(filter.try_grow());
    }
    EXPECT_EQ(taken, 0u);
  }
  set_memory_source({});
  EXPECT_EQ(num_growths, 8u);  // two shapes have two doublings left, with either scheme
}

}  // namespace
}  // namespace tally

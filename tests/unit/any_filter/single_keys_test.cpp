// The functions of AnyFilter for one key: what a batch of that key does.

#include <gtest/gtest.h>

#include <span>

#include "expect_refused.hpp"
#include "sample_filters.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

using test::describe;
using test::sample_shapes;

std::string text(int i) { return "key " + std::to_string(i); }

TEST(AnyFilterSingleKeys, LeaveTheFilterThatABatchLeaves) {
  for (const FilterShape& shape : sample_shapes()) {
    AnyFilter one_by_one(shape, 42);
    AnyFilter batch(shape, 42);
    for (int i = 0; i < 30; ++i) {
      const Hash128 digest = batch.hasher()(text(i));
      for (int times = 0; times <= i % 5; ++times) {
        ASSERT_NE(one_by_one.insert(text(i)), InsertResult::full) << describe(shape);
        ASSERT_EQ(batch.insert_batch(std::span(&digest, 1)), 0u);
      }
    }
    for (int i = 0; i < 30 && batch.can_remove(); i += 2) {
      const Hash128 digest = batch.hasher()(text(i));
      RemoveResult expected{};
      batch.remove_batch(std::span(&digest, 1), std::span(&expected, 1));
      ASSERT_EQ(one_by_one.remove(text(i)), expected) << describe(shape);
    }
    EXPECT_EQ(serialize(one_by_one), serialize(batch)) << describe(shape);
  }
}

TEST(AnyFilterSingleKeys, AreAnsweredAsInABatch) {
  for (const FilterShape& shape : sample_shapes()) {
    const AnyFilter filter = test::filled(shape);
    for (int i = 0; i < 200; ++i) {
      const Hash128 digest = filter.hasher()(text(i));
      bool expected = false;
      filter.may_contain_batch(std::span(&digest, 1), std::span(&expected, 1));
      ASSERT_EQ(filter.may_contain(text(i)), expected) << describe(shape) << ", key " << i;
      if (!filter.can_count()) continue;
      Count count;
      filter.count_batch(std::span(&digest, 1), std::span(&count, 1));
      ASSERT_EQ(filter.count(text(i)), count) << describe(shape) << ", key " << i;
    }
  }
}

TEST(AnyFilterSingleKeys, SayThatTheFilterIsFullOrACounterSaturated) {
  AnyFilter dleft({DLeftShape{.buckets_per_subtable = 1,
                              .num_subtables = 1,
                              .cells_per_bucket = 2,
                              .remainder_bits = 14,
                              .counter_bits = 2,
                              .least_remainder_bits = 14},
                   RotationBuckets::file_id},
                  1);
  EXPECT_EQ(dleft.insert("a"), InsertResult::counted);
  EXPECT_EQ(dleft.insert("b"), InsertResult::counted);
  EXPECT_EQ(dleft.insert("c"), InsertResult::full);
  AnyFilter counting({CountingBloomShape{1000, 3, 1, 1}}, 1);
  EXPECT_EQ(counting.insert("a"), InsertResult::saturated);
  AnyFilter sketch({CountMinShape{.width = 100, .depth = 2, .counter_bits = 8}, DefaultRows::file_id}, 1);
  for (int i = 1; i <= 254; ++i) ASSERT_EQ(sketch.insert("a"), InsertResult::counted) << i;
  EXPECT_EQ(sketch.insert("a"), InsertResult::saturated);
}

TEST(AnyFilterSingleKeys, AreRefusedWhereTheKindDoesNotSupportThem) {
  AnyFilter bloom({BloomShape{1000, 3}}, 1);
  test::expect_refused([&] { (void)bloom.count("a"); }, {"count: a bloom filter does not support this"});
  test::expect_refused([&] { (void)bloom.remove("a"); }, {"remove: a bloom filter does not support this"});
}

}  // namespace
}  // namespace tally

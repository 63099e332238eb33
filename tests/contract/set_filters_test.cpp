// Laws of BloomFilter with every scheme beyond those of every filter.

#include <gtest/gtest.h>

#include "support/filters.hpp"

namespace tally::test {
namespace {

template <class Scheme>
class SetFilter : public testing::Test {};
TYPED_TEST_SUITE(SetFilter, SchemesOfFiltersTypes, SchemeNames);

std::vector<std::uint64_t> numbers(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = begin; key < end; ++key) keys.push_back(key);
  return keys;
}

TYPED_TEST(SetFilter, ABatchOfQueriesAnswersLikeOneByOne) {
  for (const std::uint32_t k : {1u, 2u, 3u, 8u, 40u, 600u}) {
    BloomFilter<TypeParam> filter(Subject<BloomFilter<TypeParam>>::shapes(4000, k).front(), 7);
    filter.insert_batch(numbers(0, 200));
    const auto keys = numbers(0, 1000);
    const auto answers =
        ask_batch(1000, [&](std::span<bool> results) { filter.may_contain_batch(keys, results); });
    for (const std::uint64_t key : keys) ASSERT_EQ(answers[key], filter.may_contain(key)) << key;
  }
}

TYPED_TEST(SetFilter, AnEmptyFilterContainsNothing) {
  const BloomFilter<TypeParam> filter(Subject<BloomFilter<TypeParam>>::shapes(4000, 5).front(), 7);
  for (std::uint64_t key = 0; key < 1000; ++key) EXPECT_FALSE(filter.may_contain(key));
}

TYPED_TEST(SetFilter, AMergeIsExactlyTheFilterOfBothSets) {
  const auto shape = Subject<BloomFilter<TypeParam>>::shapes(4000, 5).front();
  BloomFilter<TypeParam> a(shape, 7);
  BloomFilter<TypeParam> b(shape, 7);
  BloomFilter<TypeParam> both(shape, 7);
  a.insert_batch(numbers(0, 200));
  b.insert_batch(numbers(150, 400));
  both.insert_batch(numbers(0, 400));
  a.merge(b);
  EXPECT_EQ(words_of(a), words_of(both));
}

TYPED_TEST(SetFilter, OrderAndRepetitionDoNotMatter) {
  const auto shape = Subject<BloomFilter<TypeParam>>::shapes(4000, 5).front();
  BloomFilter<TypeParam> a(shape, 7);
  BloomFilter<TypeParam> b(shape, 7);
  auto keys = numbers(0, 300);
  a.insert_batch(keys);
  std::reverse(keys.begin(), keys.end());
  b.insert_batch(keys);
  b.insert_batch(keys);
  EXPECT_EQ(words_of(a), words_of(b));
}

TYPED_TEST(SetFilter, AKeySetsExactlyItsPositions) {
  const auto shape = Subject<BloomFilter<TypeParam>>::shapes(4000, 9).front();
  BloomFilter<TypeParam> filter(shape, 7);
  filter.insert("a key");
  BitArray bits(shape.num_bits);
  for (const std::uint64_t position :
       positions_of<TypeParam>({shape.num_bits, shape.num_hashes, 512}, filter.hasher()("a key"))) {
    bits.set(position);
  }
  EXPECT_TRUE(std::ranges::equal(filter.storage().words(), bits.words()));
}

}  // namespace
}  // namespace tally::test

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "support/random.hpp"
#include "tally/detail/batches/near_keys.hpp"
#include "tally/filters/outcomes.hpp"

namespace tally::test {

/// For filters that a batch does not take to be in a cache. Batches of all lengths up to 100 on one filter, and single calls for the same keys, many of them repeated, on the other:
/// the answers and in the end the filters are equal. Both are empty.
template <class Filter>
void expect_that_batches_do_what_single_calls_do(Filter batched, Filter single) {
  ASSERT_GT(num_bytes(single.shape()), detail::near_bytes);
  Random random(20);
  for (std::size_t length = 0; length <= 100; ++length) {
    std::vector<std::uint64_t> keys(length);
    for (std::uint64_t& key : keys) key = random.below(1000);
    std::vector<InsertResult> inserted(length);
    batched.insert_batch(keys, inserted);
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(single.insert(keys[i]), inserted[i]);

    for (std::uint64_t& key : keys) key = random.below(1000);
    std::vector<RemoveResult> removed(length);
    batched.remove_batch(keys, removed);
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(single.remove(keys[i]), removed[i]);

    for (std::uint64_t& key : keys) key = random.below(1000);
    const auto found = std::make_unique<bool[]>(length);
    std::vector<Count> counts(length);
    batched.may_contain_batch(keys, std::span(found.get(), length));
    batched.count_batch(keys, counts);
    for (std::size_t i = 0; i < length; ++i) {
      ASSERT_EQ(single.may_contain(keys[i]), found[i]);
      ASSERT_EQ(single.count(keys[i]), counts[i]);
    }
  }
  EXPECT_TRUE(batched == single);
}

}  // namespace tally::test

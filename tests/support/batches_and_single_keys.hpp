#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/random.hpp"
#include "tally/filters/outcomes.hpp"

namespace tally::test {

/// Takes a d-left filter and random keys below `universe`, the low ones more often: batches and single keys get the same
/// answers, and the filters stay equal.
template <class Filter>
void expect_that_batches_do_what_single_keys_do(const Filter& empty, std::uint64_t universe) {
  Filter batched = empty;
  Filter single = empty;
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::uint64_t> keys(random.below(300));
    for (std::uint64_t& key : keys) key = random.below(random.below(universe) + 1);
    if (round % 3 != 2) {
      std::vector<InsertResult> results(keys.size());
      batched.insert_batch(keys, results);
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(results[i], single.insert(keys[i])) << i;
    } else {
      std::vector<RemoveResult> results(keys.size());
      batched.remove_batch(keys, results);
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(results[i], single.remove(keys[i])) << i;
    }
    ASSERT_EQ(batched, single);
    ASSERT_EQ(batched.table().num_fingerprints(), single.table().num_fingerprints());
    std::vector<Count> counts(keys.size());
    batched.count_batch(keys, counts);
    const auto found = std::make_unique<bool[]>(keys.size());
    batched.may_contain_batch(keys, std::span(found.get(), keys.size()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(counts[i], single.count(keys[i])) << i;
      ASSERT_EQ(found[i], single.may_contain(keys[i])) << i;
    }
  }
}

}  // namespace tally::test

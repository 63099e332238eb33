#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "checks.hpp"
#include "dleft.hpp"
#include "random.hpp"

namespace tally::test {

namespace {

// The single-key operations are the general code, the batches take the kernels where there are some.
template <class Filter>
void expect_batches_as_single_keys(Filter filter) {
  Filter single = filter;
  Random random(2);
  const std::uint64_t universe = 2 * filter.shape().num_cells();
  for (int round = 0; round < 40; ++round) {
    std::vector<std::uint64_t> keys(random.below(300));
    for (std::uint64_t& key : keys) key = random.below(random.below(universe) + 1);
    if (round % 3 != 2) {
      std::vector<InsertResult> results(keys.size());
      filter.insert_batch(keys, results);
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(results[i], single.insert(keys[i])) << i;
    } else {
      std::vector<RemoveResult> results(keys.size());
      filter.remove_batch(keys, results);
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(results[i], single.remove(keys[i])) << i;
    }
    ASSERT_EQ(cells_of(filter), cells_of(single));
    ASSERT_EQ(filter.totals(), single.totals());
    ASSERT_EQ(filter.table().num_fingerprints(), single.table().num_fingerprints());
    std::vector<Count> counts(keys.size());
    filter.count_batch(keys, counts);
    const auto found = std::make_unique<bool[]>(keys.size());
    filter.may_contain_batch(keys, std::span(found.get(), keys.size()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(counts[i], single.count(keys[i])) << i;
      ASSERT_EQ(found[i], single.may_contain(keys[i])) << i;
    }
    if (round == 20) {
      ASSERT_EQ(filter.try_grow(), single.try_grow());
    }
  }
  ASSERT_EQ(fingerprints_of(filter), fingerprints_of(single));
}

template <class Scheme>
void expect_batches_of_every_shape() {
  for (DLeftShape shape : small_dleft_shapes()) {
    // Not a power of two where the scheme allows it.
    if (Scheme::round_buckets(3, Rounding::up) == 3 && shape.buckets_per_subtable > 4)
      shape.buckets_per_subtable -= 3;
    SCOPED_TRACE(std::string(Scheme::name) + ", d " + std::to_string(shape.num_subtables) + ", c " +
                 std::to_string(shape.cells_per_bucket) + ", r " + std::to_string(shape.remainder_bits) +
                 ", counter bits " + std::to_string(shape.counter_bits));
    expect_batches_as_single_keys(DLeftCountingBloomFilter<Scheme>(shape, KeyHasher(7)));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace

void expect_dleft_kernels_as_single_keys() {
  expect_batches_of_every_shape<RotationBuckets>();
  expect_batches_of_every_shape<MultiplierBuckets>();
}

}  // namespace tally::test

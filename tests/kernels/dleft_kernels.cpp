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

/// The same buckets as another type, for which there are no kernels: its filters take the general code.
template <class Scheme>
struct WithoutKernels : Scheme {
  using Scheme::Scheme;
};

template <class A, class B>
void expect_same_table(const A& a, const B& b) {
  ASSERT_EQ(cells_of(a), cells_of(b));
  ASSERT_EQ(a.totals(), b.totals());
  ASSERT_EQ(a.table().num_fingerprints(), b.table().num_fingerprints());
}

template <class Scheme>
void expect_batches_and_single_keys_as_general_code(const DLeftShape& shape) {
  DLeftCountingBloomFilter<Scheme> in_batches(shape, KeyHasher(7));
  DLeftCountingBloomFilter<Scheme> singly(shape, KeyHasher(7));
  DLeftCountingBloomFilter<WithoutKernels<Scheme>> general(shape, KeyHasher(7));
  Random random(2);
  const std::uint64_t universe = 2 * general.shape().num_cells();
  for (int round = 0; round < 40; ++round) {
    std::vector<std::uint64_t> keys(random.below(300));
    for (std::uint64_t& key : keys) key = random.below(random.below(universe) + 1);
    if (round % 3 != 2) {
      std::vector<InsertResult> results(keys.size());
      in_batches.insert_batch(keys, results);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const InsertResult expected = general.insert(keys[i]);
        ASSERT_EQ(singly.insert(keys[i]), expected) << i;
        ASSERT_EQ(results[i], expected) << i;
      }
    } else {
      std::vector<RemoveResult> results(keys.size());
      in_batches.remove_batch(keys, results);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const RemoveResult expected = general.remove(keys[i]);
        ASSERT_EQ(singly.remove(keys[i]), expected) << i;
        ASSERT_EQ(results[i], expected) << i;
      }
    }
    expect_same_table(in_batches, general);
    expect_same_table(singly, general);
    if (::testing::Test::HasFatalFailure()) return;
    std::vector<Count> counts(keys.size());
    in_batches.count_batch(keys, counts);
    const auto found = std::make_unique<bool[]>(keys.size());
    in_batches.may_contain_batch(keys, std::span(found.get(), keys.size()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Count expected = general.count(keys[i]);
      ASSERT_EQ(counts[i], expected) << i;
      ASSERT_EQ(singly.count(keys[i]), expected) << i;
      ASSERT_EQ(found[i], general.may_contain(keys[i])) << i;
      ASSERT_EQ(singly.may_contain(keys[i]), general.may_contain(keys[i])) << i;
    }
    if (round == 20) {
      const bool has_grown = general.try_grow();
      ASSERT_EQ(in_batches.try_grow(), has_grown);
      ASSERT_EQ(singly.try_grow(), has_grown);
    }
  }
  ASSERT_EQ(fingerprints_of(in_batches), fingerprints_of(general));
}

template <class Scheme>
void expect_kernels_of_every_shape() {
  for (DLeftShape shape : small_dleft_shapes()) {
    // Not a power of two where the scheme allows it.
    if (Scheme::round_buckets(3, Rounding::up) == 3 && shape.buckets_per_subtable > 4)
      shape.buckets_per_subtable -= 3;
    SCOPED_TRACE(std::string(Scheme::name) + ", d " + std::to_string(shape.num_subtables) + ", c " +
                 std::to_string(shape.cells_per_bucket) + ", r " + std::to_string(shape.remainder_bits) +
                 ", counter bits " + std::to_string(shape.counter_bits));
    expect_batches_and_single_keys_as_general_code<Scheme>(shape);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace

void expect_dleft_kernels_as_general_code() {
  expect_kernels_of_every_shape<RotationBuckets>();
  expect_kernels_of_every_shape<MultiplierBuckets>();
}

}  // namespace tally::test

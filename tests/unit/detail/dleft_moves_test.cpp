// The search for moves against the exact answer: whether the fingerprints have a placement at all.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "random.hpp"
#include "tally/detail/dleft/table.hpp"
#include "tally/hashing/rotation_buckets.hpp"

namespace tally::detail {
namespace {

/// Elements in buckets of limited capacity, each in one of its own buckets: a bipartite matching that grows by augmenting paths.
class Placement {
 public:
  Placement(std::uint64_t num_buckets, std::uint32_t capacity)
      : capacity_(capacity), elements_in_(num_buckets) {}

  /// Returns whether all elements, with this one, have a placement; if not, it is left out.
  bool add(std::vector<std::uint64_t> buckets) {
    buckets_of_.push_back(std::move(buckets));
    std::vector<bool> is_tried(elements_in_.size());
    if (place(buckets_of_.size() - 1, is_tried)) return true;
    buckets_of_.pop_back();
    return false;
  }

 private:
  bool place(std::size_t element, std::vector<bool>& is_tried) {
    for (const std::uint64_t bucket : buckets_of_[element]) {
      if (is_tried[bucket]) continue;
      is_tried[bucket] = true;
      auto& own = elements_in_[bucket];
      if (own.size() < capacity_) {
        own.push_back(element);
        return true;
      }
      for (std::size_t& other : own) {
        const std::size_t evicted = other;
        if (!place(evicted, is_tried)) continue;
        other = element;
        return true;
      }
    }
    return false;
  }

  std::uint32_t capacity_;
  std::vector<std::vector<std::uint64_t>> buckets_of_;
  std::vector<std::vector<std::size_t>> elements_in_;
};

struct Size {
  std::uint64_t buckets_per_subtable;
  std::uint32_t num_subtables;
  std::uint32_t cells_per_bucket;
};

TEST(DLeftMoves, OfFewBucketsFindRoomExactlyIfThereIsAPlacement) {
  for (const Size size : {Size{1, 2, 3}, Size{2, 2, 4}, Size{40, 2, 1}, Size{480, 2, 2}, Size{30, 2, 8},
                          Size{20, 3, 2}, Size{320, 3, 1}, Size{8, 2, 32}, Size{12, 4, 8}}) {
    int num_refused = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const DLeftShape shape{.buckets_per_subtable = size.buckets_per_subtable,
                             .num_subtables = size.num_subtables,
                             .cells_per_bucket = size.cells_per_bucket,
                             .remainder_bits = 28,
                             .counter_bits = 4,
                             .least_remainder_bits = 28};
      ASSERT_LE(shape.buckets_per_subtable * shape.num_subtables, most_buckets_searched_all);
      DLeftTable<RotationBuckets> table(shape, seed);
      Placement exact(table.cells().num_buckets(), size.cells_per_bucket);
      test::Random random(seed);
      for (std::uint64_t i = 0; i < shape.num_cells() + 20; ++i) {
        std::vector<std::uint64_t> images(size.num_subtables);
        table.scheme().all_images(shape.fingerprint_space().fingerprint_of(random.digest()),
                                  size.num_subtables, images.data());
        if (table.count(images.data()) != 0) continue;
        std::vector<std::uint64_t> buckets;
        for (std::uint32_t s = 0; s < size.num_subtables; ++s)
          buckets.push_back(table.bucket_of(s, images[s]));
        const bool is_placed = table.insert(images.data()) != DLeftInserted::no_cell;
        ASSERT_EQ(is_placed, exact.add(buckets))
            << size.buckets_per_subtable << " " << size.num_subtables << " x " << size.cells_per_bucket
            << " seed " << seed << " element " << i;
        num_refused += !is_placed;
      }
    }
    EXPECT_GE(num_refused, 5 * 20);
  }
}

}  // namespace
}  // namespace tally::detail

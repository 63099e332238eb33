#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "checks.hpp"
#include "compact_dleft.hpp"
#include "random.hpp"

namespace tally::test {

namespace {

using detail::CompactSpot;

/// Lines that the kernels write, and the same in plain code.
class TwoSetsOfLines {
 public:
  explicit TwoSetsOfLines(const CompactDLeftShape& shape)
      : shape_(shape),
        kernels_(detail::compact_kernels(shape)),
        words_(8 * shape.num_lines()),
        finder_(shape.num_lines_per_subtable, shape.remainder_bits, 5),
        plain_(shape) {
    finder_.set_lines(words_.data());
  }

  void expect_equal_lines() {
    ASSERT_EQ(std::memcmp(words_.data(), plain_.bytes().data(), plain_.bytes().size()), 0);
  }

  void insert(Hash128 key, bool in_batch) {
    const detail::CompactInserted how = plain_.insert(place_of(key));
    if (in_batch) {
      const CompactSpot spot = spot_of(key);
      std::uint64_t num_new = 0;
      const std::size_t num_inserted = kernels_.insert_all(&spot, 1, num_new);
      ASSERT_EQ(num_inserted, how != detail::CompactInserted::no_room);
      ASSERT_EQ(num_new, how == detail::CompactInserted::first);
    } else {
      ASSERT_EQ(kernels_.insert(finder_, key), how);
    }
  }
  void remove(Hash128 key, bool in_batch) {
    if (plain_.count(place_of(key)) == detail::max_compact_copies) expect_stop_at_max(key);
    const detail::CompactRemoved how = plain_.remove(place_of(key));
    if (in_batch) {
      const CompactSpot spot = spot_of(key);
      std::uint64_t num_gone = 0;
      RemoveResult result = RemoveResult::saturated;
      std::uint64_t num_removed = 0;
      ASSERT_EQ(kernels_.remove_all(&spot, 1, &result, false, num_removed, num_gone), 1u);
      ASSERT_EQ(num_removed, how != detail::CompactRemoved::absent);
      ASSERT_EQ(num_gone, how == detail::CompactRemoved::last);
      ASSERT_EQ(result,
                how == detail::CompactRemoved::absent ? RemoveResult::refused : RemoveResult::removed);
    } else {
      ASSERT_EQ(kernels_.remove(finder_, key, false), how);
    }
  }
  void look_up(const std::vector<Hash128>& keys) {
    std::vector<CompactSpot> spots(keys.size());
    kernels_.find_spots(finder_, keys.data(), keys.size(), spots.data());
    const auto found = std::make_unique<bool[]>(keys.size());
    kernels_.contains_all(spots.data(), keys.size(), found.get());
    std::vector<std::uint32_t> counts(keys.size());
    kernels_.count_all(spots.data(), keys.size(), counts.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint32_t count = plain_.count(place_of(keys[i]));
      ASSERT_EQ(counts[i], count);
      ASSERT_EQ(found[i], count != 0);
      ASSERT_EQ(kernels_.contains(finder_, keys[i]), count != 0);
    }
  }

 private:
  void expect_stop_at_max(Hash128 key) {
    ASSERT_EQ(kernels_.remove(finder_, key, true), detail::CompactRemoved::at_max);
    const CompactSpot spot = spot_of(key);
    RemoveResult result = RemoveResult::saturated;
    std::uint64_t num_removed = 0;
    std::uint64_t num_gone = 0;
    ASSERT_EQ(kernels_.remove_all(&spot, 1, &result, true, num_removed, num_gone), 0u);
    expect_equal_lines();
  }

  CompactSpot spot_of(Hash128 key) const {
    CompactSpot spot;
    kernels_.find_spots(finder_, &key, 1, &spot);
    return spot;
  }

  /// By the definition, with other code than the kernels'.
  PlainCompactLines::Place place_of(Hash128 key) const {
    const std::uint32_t bits = shape_.remainder_bits;
    const auto mini_bucket =
        static_cast<std::uint32_t>(reduce_to_range(key.high, shape_.line().num_mini_buckets));
    const auto remainder = static_cast<std::uint32_t>(key.high & ((1u << bits) - 1));
    const std::uint64_t fingerprint =
        (reduce_to_range(key.low, shape_.num_lines_per_subtable) << 7 | mini_bucket) << bits | remainder;
    const RotationBuckets scheme({shape_.num_lines_per_subtable, bits + 7, bits + 7}, 5);
    return {scheme.image(0, fingerprint) >> (bits + 7),
            shape_.num_lines_per_subtable + (scheme.image(1, fingerprint) >> (bits + 7)),
            {mini_bucket, remainder}};
  }

  CompactDLeftShape shape_;
  const detail::CompactKernels& kernels_;
  detail::AlignedWords words_;
  detail::CompactFinder finder_;
  PlainCompactLines plain_;
};

}  // namespace

void expect_compact_kernels_as_plain_lines() {
  for (const CompactDLeftShape& shape : small_compact_shapes()) {
    SCOPED_TRACE("r " + std::to_string(shape.remainder_bits));
    TwoSetsOfLines lines(shape);
    Random random(shape.remainder_bits);
    // The keys share 12 high halves out of 16, so that equal mini-buckets and remainders meet in a line.
    std::vector<Hash128> keys(3 * shape.num_cells());
    std::array<std::uint64_t, 12> high;
    for (std::uint64_t& half : high) half = random.next();
    for (Hash128& key : keys) {
      key = random.digest();
      if (random.below(16) < 12) key.high = high[random.below(12)];
    }
    for (int i = 0; i < 6000; ++i) {
      const Hash128 key = keys[random.below(random.below(keys.size()) + 1)];
      // Now fuller, now emptier, down to empty lines.
      const bool grows = i / 1000 % 2 == 0;
      if (random.below(10) < (grows ? 8u : 1u)) {
        lines.insert(key, random.below(2) == 0);
      } else {
        lines.remove(key, random.below(2) == 0);
      }
      lines.expect_equal_lines();
      if (i % 100 == 0) lines.look_up(keys);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace tally::test

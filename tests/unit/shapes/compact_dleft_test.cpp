#include "tally/shapes/compact_dleft.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "support/expect_refused.hpp"
#include "tally/detail/compact/layout.hpp"
#include "tally/filters/compact_dleft.hpp"

namespace tally {
namespace {

TEST(CompactDLeftShapes, OutOfRangeAreRefusedWithFieldValueAndRange) {
  const auto expect_named = [](const CompactDLeftShape& shape, const std::vector<std::string>& fragments) {
    test::expect_refused([&] { CompactDLeftFilter(shape, KeyHasher(1)); }, fragments);
  };
  expect_named({}, {"CompactDLeftFilter", "num_lines_per_subtable is 0", "1 to 1099511627776"});
  expect_named({.num_lines_per_subtable = (std::uint64_t{1} << 40) + 1}, {"num_lines_per_subtable"});
  expect_named({.num_lines_per_subtable = 1, .remainder_bits = 7}, {"remainder_bits is 7", "8 to 14"});
  expect_named({.num_lines_per_subtable = 1, .remainder_bits = 15}, {"remainder_bits is 15", "8 to 14"});
  expect_named({.num_lines_per_subtable = 1, .spill_capacity = (std::uint64_t{1} << 32) + 1},
               {"spill_capacity"});
  expect_named({.num_lines_per_subtable = 1, .moves = DLeftMoves::first_subtable},
               {"moves is 1", "none", "search"});
  expect_named({.num_lines_per_subtable = 1, .moves = static_cast<DLeftMoves>(9)}, {"moves is 9"});
  EXPECT_NO_THROW(check_shape(CompactDLeftShape{.num_lines_per_subtable = std::uint64_t{1} << 40}));
}

TEST(CompactDLeftShapes, DivideEveryBitOfALineOnce) {
  for (std::uint32_t r = least_compact_remainder_bits; r <= max_compact_remainder_bits; ++r) {
    const detail::CompactLayout layout(r);
    const CompactLineShape line = compact_line_shape(r);
    EXPECT_EQ(line.num_cells * (r + 1) + line.num_mini_buckets, 512u);
    EXPECT_LE(line.num_cells, max_compact_cells);
    EXPECT_LE(line.num_mini_buckets, max_mini_buckets);
    std::set<std::uint32_t> bits;
    for (std::uint32_t i = 0; i < line.num_cells * 8; ++i) bits.insert(i);
    for (std::uint32_t i = 0; i < line.num_cells * layout.num_planes; ++i)
      bits.insert(layout.first_plane + i);
    for (std::uint32_t i = 0; i < line.num_cells; ++i) bits.insert(layout.first_start + i);
    for (std::uint32_t q = 0; q < line.num_mini_buckets; ++q) bits.insert(layout.occupied_bit(q));
    EXPECT_EQ(bits.size(), 512u);
    EXPECT_EQ(*bits.rbegin(), 511u);
  }
}

// The numbers in the comments: false positive rate and bits per key.
TEST(CompactDLeftShapes, HaveTheStatedRatesAndSizes) {
  struct Row {
    std::uint32_t remainder_bits;
    double load;
    double rate_at_most;
    double bits_at_most;
  };
  for (const Row& row :
       {Row{8, 0.9525, 0.0045, 11.2}, Row{9, 0.9303, 0.0020, 12.8}, Row{13, 0.93, 0.0002, 16.9}}) {
    const CompactDLeftShape shape{.num_lines_per_subtable = 10'000, .remainder_bits = row.remainder_bits};
    const double num_keys = row.load * static_cast<double>(shape.num_cells());
    EXPECT_LE(num_keys / shape.num_fingerprints(), row.rate_at_most) << row.remainder_bits;
    EXPECT_LE(512 * static_cast<double>(shape.num_lines()) / num_keys, row.bits_at_most)
        << row.remainder_bits;
  }
}

TEST(CompactDLeftShapes, CountTheirBytes) {
  EXPECT_EQ(num_bytes(CompactDLeftShape{.num_lines_per_subtable = 10, .spill_capacity = 0}), 1280u);
  EXPECT_EQ(num_bytes(CompactDLeftShape{.num_lines_per_subtable = 10, .spill_capacity = 64}),
            1280u + 16 * 128);
}

}  // namespace
}  // namespace tally

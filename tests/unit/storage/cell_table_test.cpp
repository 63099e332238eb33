#include "tally/storage/cell_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "expect_refused.hpp"
#include "random.hpp"

namespace tally {
namespace {

using test::Random;

TEST(CellTable, KeepsEveryCellApartInEveryWidth) {
  for (const std::uint32_t cell_bits : {8, 12, 16, 24, 32}) {
    for (const std::uint32_t cells_per_bucket : {1, 5, 8, 32, 64}) {
      CellTable table(13, cells_per_bucket, cell_bits);
      std::vector<std::uint32_t> exact(13 * cells_per_bucket);
      Random random(cell_bits);
      const std::uint64_t values = std::uint64_t{1} << cell_bits;
      for (int i = 0; i < 3000; ++i) {
        const std::uint64_t at = random.below(exact.size());
        exact[at] = static_cast<std::uint32_t>(random.below(3) == 0 ? values - 1 : random.below(values));
        table.set(at / cells_per_bucket, static_cast<std::uint32_t>(at % cells_per_bucket), exact[at]);
        const std::uint64_t other = random.below(exact.size());
        ASSERT_EQ(table.get(other / cells_per_bucket, static_cast<std::uint32_t>(other % cells_per_bucket)),
                  exact[other]);
      }
      for (std::uint64_t bucket = 0; bucket < 13; ++bucket) {
        const std::uint32_t wanted = exact[bucket * cells_per_bucket];
        std::uint64_t equal = 0;
        for (std::uint32_t j = 0; j < cells_per_bucket; ++j) {
          equal |= std::uint64_t{(exact[bucket * cells_per_bucket + j] & 0x7f) == (wanted & 0x7f)} << j;
        }
        ASSERT_EQ(table.cells_equal(bucket, 0x7f, wanted & 0x7f), equal);
      }
    }
  }
}

TEST(CellTable, ASplitSendsEveryCellToItsHalfWithoutTheBit) {
  CellTable table(2, 4, 12);
  const std::uint32_t cells[2][4] = {{0x101, 0x042, 0x003, 0x140}, {0, 0x041, 0, 0x7}};
  for (std::uint32_t i = 0; i < 8; ++i) table.set(i / 4, i % 4, cells[i / 4][i % 4]);
  const CellTable split = split_buckets(table, 0x40);
  const std::uint32_t expected[4][4] = {{0x101, 0x003}, {0x002, 0x100}, {0x7}, {0x001}};
  ASSERT_EQ(split.num_buckets(), 4);
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(split.get(i / 4, i % 4), expected[i / 4][i % 4]) << i;
}

TEST(CellTable, RefusesWhatItCannotBe) {
  test::expect_refused([] { CellTable(1, 8, 10); },
                       {"CellTable: cell_bits is 10; must be 8, 12, 16, 24 or 32"});
  test::expect_refused([] { CellTable(1, 65, 8); }, {"CellTable: cells_per_bucket is 65; must be 1 to 64"});
  test::expect_refused([] { CellTable(1, 0, 8); }, {"CellTable: cells_per_bucket is 0"});
  test::expect_refused([] { CellTable(~std::uint64_t{0} / 2, 8, 8); }, {"does not fit in 64 bits"});
  test::expect_refused([] { CellTable(1, 8, 8, detail::AlignedWords(1)); },
                       {"number of words is 1; must be 2"});
}

}  // namespace
}  // namespace tally

#include "tally/summaries/peer_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "counting_memory.hpp"
#include "random.hpp"

// A table beside an exact model: the units of each column that are not 0.

namespace tally {
namespace {

using Column = PeerTable::Column;
using Units = std::map<std::uint64_t, std::uint32_t>;

SummaryLayout layout_of_bits(std::uint64_t num_bits) {
  return layout_of(BloomShape{.num_bits = num_bits, .num_hashes = 3}, DefaultScheme::file_id, 42);
}

SummaryLayout layout_of_cells(std::uint32_t cell_bits) {
  const std::uint32_t counter_bits = cell_bits == 32 ? 4 : 2;
  return layout_of(DLeftShape{.buckets_per_subtable = 3001,
                              .num_subtables = 3,
                              .cells_per_bucket = 3,
                              .remainder_bits = cell_bits - counter_bits,
                              .counter_bits = counter_bits,
                              .least_remainder_bits = cell_bits - counter_bits},
                   RotationBuckets::file_id, 42);
}

void reserve_and_put(PeerTable& table, Column column, const Units& units) {
  const auto each = [&](auto visit) {
    for (const auto& [unit, value] : units) visit(unit);
  };
  const std::uint64_t peak = table.peak_bytes_of_reserve(column, each);
  const std::uint64_t before = table.num_bytes();
  table.reserve(column, each);
  EXPECT_GE(peak, table.num_bytes());
  EXPECT_GE(table.num_bytes(), before);
  for (const auto& [unit, value] : units) table.put(column, unit, value);
}

class TableAndModel {
 public:
  TableAndModel(const SummaryLayout& layout, std::uint64_t max_columns)
      : table_(layout), max_columns_(max_columns), random_(layout.unit_bits()) {}

  void run(int num_steps) {
    for (int i = 0; i < num_steps && !::testing::Test::HasFailure(); ++i) step();
    for (const Column column : used_) expect_column(column);
  }

  std::uint64_t num_found() const { return num_found_; }
  std::uint64_t most_columns() const { return model_.size(); }

 private:
  void step() {
    const std::uint64_t what = random_.below(100);
    if (used_.empty() || (what < 45 && used_.size() < max_columns_)) {
      const Column column = table_.add_column();
      if (column >= model_.size()) model_.resize(column + 1);
      EXPECT_TRUE(model_[column].empty());
      used_.push_back(column);
      if (random_.below(4) != 0) write(column);
    } else if (what < 70) {
      write(some_column());
    } else if (what < 75) {
      const Column column = some_column();
      table_.clear(column);
      model_[column].clear();
    } else if (what < 80) {
      const std::size_t i = random_.below(used_.size());
      table_.free_column(used_[i]);
      model_[used_[i]].clear();
      used_.erase(used_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (what < 85) {
      const Column column = some_column();
      const std::uint64_t unit = random_.below(table_.layout().num_units());
      table_.put(column, unit, 0);
      model_[column].erase(unit);
    } else if (what < 87) {
      expect_column(some_column());
    } else {
      find();
    }
    EXPECT_EQ(table_.num_columns(), used_.size());
  }

  Column some_column() { return used_[random_.below(used_.size())]; }

  // Keys, most of them in a part of the table only; and a unit of some segment, so that segments differ.
  void write(Column column) {
    Units units;
    const std::uint64_t first = random_.below(table_.layout().num_units());
    units[first] = 1;
    const std::uint64_t num_keys = random_.below(3) == 0 ? 5 : 0;
    for (std::uint64_t i = 0; i < num_keys; ++i) add_key(units);
    reserve_and_put(table_, column, units);
    for (const auto& [unit, value] : units) model_[column][unit] = value;
  }

  void add_key(Units& units) {
    const Hash128 digest = keys_.empty() || random_.below(2) == 0 ? random_.digest() : some_key();
    keys_.push_back(digest);
    const std::vector<std::uint64_t> positions = positions_of(digest);
    const auto* const dleft = std::get_if<DLeftShape>(&table_.layout().shape);
    if (dleft == nullptr) {
      for (const std::uint64_t position : positions) units[position] = 1;
      return;
    }
    const std::uint64_t position = positions[random_.below(positions.size())];
    const std::uint64_t cell = table_.positions().bucket_of(position) * dleft->cells_per_bucket +
                               random_.below(dleft->cells_per_bucket);
    const std::uint64_t count = random_.below(std::uint64_t{1} << dleft->counter_bits);
    units[cell] = static_cast<std::uint32_t>(count << dleft->remainder_bits |
                                             table_.positions().remainder_of(position));
  }

  Hash128 some_key() { return keys_[random_.below(keys_.size())]; }

  std::vector<std::uint64_t> positions_of(Hash128 digest) const {
    std::vector<std::uint64_t> positions(table_.positions().num_hashes());
    table_.positions().find(digest, positions.data());
    return positions;
  }

  std::uint32_t value_of(Column column, std::uint64_t unit) const {
    const auto found = model_[column].find(unit);
    return found == model_[column].end() ? 0 : found->second;
  }

  bool passes(Column column, const std::vector<std::uint64_t>& positions) const {
    const auto* const dleft = std::get_if<DLeftShape>(&table_.layout().shape);
    if (dleft == nullptr) {
      return std::all_of(positions.begin(), positions.end(),
                         [&](std::uint64_t position) { return value_of(column, position) != 0; });
    }
    const std::uint64_t mask = (std::uint64_t{1} << dleft->remainder_bits) - 1;
    for (const std::uint64_t position : positions) {
      for (std::uint64_t j = 0; j < dleft->cells_per_bucket; ++j) {
        const std::uint64_t cell = table_.positions().bucket_of(position) * dleft->cells_per_bucket + j;
        if ((value_of(column, cell) & mask) == table_.positions().remainder_of(position)) return true;
      }
    }
    return false;
  }

  void find() {
    const Hash128 digest = keys_.empty() || random_.below(4) == 0 ? random_.digest() : some_key();
    const std::vector<std::uint64_t> positions = positions_of(digest);
    std::vector<Column> expected;
    for (Column column = 0; column < model_.size(); ++column) {
      if (passes(column, positions)) expected.push_back(column);
    }
    table_.prefetch(positions.data());
    std::vector<Column> found;
    table_.find_passing(positions.data(), scratch_, found);
    EXPECT_EQ(found, expected);
    num_found_ += found.size();
  }

  void expect_column(Column column) const {
    for (std::uint64_t unit = 0; unit < table_.layout().num_units(); ++unit) {
      ASSERT_EQ(table_.get(column, unit), value_of(column, unit)) << "column " << column << ", unit " << unit;
    }
  }

  PeerTable table_;
  PeerTable::Scratch scratch_;
  std::uint64_t max_columns_;
  test::Random random_;
  std::vector<Units> model_;
  std::vector<Column> used_;
  std::vector<Hash128> keys_;
  std::uint64_t num_found_ = 0;
};

TEST(PeerTable, HasTheBitsOfItsModelWhateverColumnsItsSegmentsHave) {
  TableAndModel both(layout_of_bits(200'003), 200);
  both.run(4000);
  EXPECT_GE(both.most_columns(), 200u);
  EXPECT_GT(both.num_found(), 500u);
}

TEST(PeerTable, HasTheCellsOfItsModelWhateverTheirWidth) {
  for (const std::uint32_t cell_bits : {8u, 16u, 32u}) {
    SCOPED_TRACE(cell_bits);
    TableAndModel both(layout_of_cells(cell_bits), 60);
    both.run(2500);
    EXPECT_GE(both.most_columns(), 60u);
    EXPECT_GT(both.num_found(), 500u);
  }
}

std::vector<Column> passing_in(const PeerTable& table, Hash128 digest) {
  std::vector<std::uint64_t> positions(table.positions().num_hashes());
  table.positions().find(digest, positions.data());
  PeerTable::Scratch scratch;
  std::vector<Column> passing;
  table.prefetch(positions.data());
  table.find_passing(positions.data(), scratch, passing);
  return passing;
}

/// The buckets of the key, and those after them, hold its remainders.
Units buckets_with(const PeerTable& table, Hash128 digest) {
  const auto& dleft = std::get<DLeftShape>(table.layout().shape);
  std::vector<std::uint64_t> positions(table.positions().num_hashes());
  table.positions().find(digest, positions.data());
  Units units;
  for (const std::uint64_t position : positions) {
    const std::uint64_t first = table.positions().bucket_of(position) * dleft.cells_per_bucket;
    for (std::uint64_t cell = first; cell < first + 40 * dleft.cells_per_bucket; ++cell) {
      if (cell < table.layout().num_units()) units[cell] = table.positions().remainder_of(position);
    }
  }
  return units;
}

// Where a row ends before the last column, the next row follows it in memory, and there all units are set.
TEST(PeerTable, ColumnsWithoutMemoryPassNoKey) {
  struct Case {
    Column with_memory, all;
  };
  for (const bool has_cells : {false, true}) {
    for (const auto [with_memory, all] :
         {Case{0, 5}, Case{1, 2}, Case{3, 30}, Case{30, 64}, Case{30, 200}, Case{64, 65}, Case{66, 200}}) {
      SCOPED_TRACE(std::to_string(with_memory) + " of " + std::to_string(all));
      PeerTable table(has_cells ? layout_of_cells(16) : layout_of_bits(70'000));
      Units units;
      for (std::uint64_t unit = 0; !has_cells && unit < 70'000; ++unit) units[unit] = 1;
      if (has_cells) units = buckets_with(table, {1, 2});
      std::vector<Column> expected;
      for (Column column = 0; column < all; ++column) {
        ASSERT_EQ(table.add_column(), column);
        if (column >= with_memory) continue;
        reserve_and_put(table, column, units);
        expected.push_back(column);
      }
      EXPECT_EQ(passing_in(table, {1, 2}), expected);
    }
  }
}

TEST(PeerTable, AColumnThatIsAlmostEmptyTakesAlmostNoMemory) {
  PeerTable table(layout_of_bits(std::uint64_t{1} << 31));
  for (int i = 0; i < 50; ++i) (void)table.add_column();
  EXPECT_LT(table.num_bytes(), 100'000u) << "nothing is written";
  reserve_and_put(table, 0, {{1'234'567'890, 1}});
  EXPECT_LT(table.num_bytes(), 200'000u);
  EXPECT_EQ(table.get(0, 1'234'567'890), 1u);
  EXPECT_EQ(table.get(49, 1'234'567'890), 0u);
}

TEST(PeerTable, ClearingAColumnOfAHugeTableLeavesTheOthersAndIsFast) {
  PeerTable table(layout_of_bits(std::uint64_t{1} << 31));
  const Units units = {{5, 1}, {6, 1}, {1'000'000'000, 1}, {2'147'483'647, 1}};
  for (Column column = 0; column < 3; ++column) {
    ASSERT_EQ(table.add_column(), column);
    reserve_and_put(table, column, units);
  }
  const std::uint64_t num_bytes = table.num_bytes();
  // Unit by unit this takes half an hour.
  for (int i = 0; i < 200; ++i) table.clear(1);
  for (const auto& [unit, value] : units) {
    EXPECT_EQ(table.get(0, unit), 1u) << unit;
    EXPECT_EQ(table.get(1, unit), 0u) << unit;
    EXPECT_EQ(table.get(2, unit), 1u) << unit;
    EXPECT_EQ(table.get(0, unit - 2), 0u) << unit;
  }
  EXPECT_EQ(table.num_bytes(), num_bytes);
}

TEST(PeerTable, NeverHoldsMoreThanThePeakThatItForetold) {
  for (const bool has_cells : {false, true}) {
    const test::CountingMemory memory;
    PeerTable table(has_cells ? layout_of_cells(16) : layout_of_bits(200'003));
    Units units;
    for (std::uint64_t unit = 0; unit < table.layout().num_units(); unit += 100) units[unit] = 1;
    const auto each = [&](auto visit) {
      for (const auto& [unit, value] : units) visit(unit);
    };
    const std::uint64_t own = table.num_bytes();  // of the segments' table
    std::uint64_t most = 0;
    for (int i = 0; i < 150; ++i) {
      const Column column = table.add_column();
      most = std::max(most, table.peak_bytes_of_reserve(column, each));
      table.reserve(column, each);
      ASSERT_EQ(test::CountingMemory::peak_bytes(), most - own) << column;
      ASSERT_EQ(test::CountingMemory::num_bytes(), table.num_bytes() - own) << column;
    }
  }
}

TEST(PeerTable, WithoutMemoryForAllSegmentsNothingSeemsChanged) {
  for (const bool has_cells : {false, true}) {
    const test::CountingMemory memory;
    PeerTable table(has_cells ? layout_of_cells(16) : layout_of_bits(200'003));
    Units units;
    for (std::uint64_t unit = 0; unit < table.layout().num_units(); unit += 100) units[unit] = 1;
    const auto each = [&](auto visit) {
      for (const auto& [unit, value] : units) visit(unit);
    };
    reserve_and_put(table, table.add_column(), units);
    const Column column = table.add_column();
    const std::uint64_t before = table.num_bytes();
    test::CountingMemory::refuse_beyond(test::CountingMemory::num_bytes() + 20'000);
    EXPECT_THROW(table.reserve(column, each), std::bad_alloc);
    EXPECT_EQ(table.num_bytes(), before);
    for (std::uint64_t unit = 0; unit < table.layout().num_units(); ++unit) {
      ASSERT_EQ(table.get(0, unit), unit % 100 == 0 ? 1u : 0u);
      ASSERT_EQ(table.get(column, unit), 0u);
    }
    test::CountingMemory::refuse_beyond(~std::uint64_t{0});
    reserve_and_put(table, column, units);
    EXPECT_GT(table.num_bytes(), before);
    for (const auto& [unit, value] : units) EXPECT_EQ(table.get(column, unit), 1u);
  }
}

}  // namespace
}  // namespace tally

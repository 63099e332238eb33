#include "tally/detail/compact/moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace tally::detail {
namespace {

using Cell = CompactLineCells::Cell;
using Copies = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

/// A few lines that are nearly full of fingerprints with 1 to 3 cells each, with any two lines for each fingerprint. A
/// move that does not fit, or of cells that are not there, is noted.
class CrowdedLines {
 public:
  CrowdedLines(std::uint64_t num_lines, std::uint64_t seed)
      : num_lines_(num_lines), bytes_(num_lines * compact_line_bytes), random_(seed) {
    for (std::uint64_t line = 0; line < num_lines_; ++line) {
      // Lines 0 and 1 are full, where room is wanted; some of the others have one or two unused cells.
      const std::uint64_t num_unused = line < 2 ? 0 : random_.below(2) + (random_.below(8) == 0);
      CompactLineCells cells = cells_of(line);
      while (cells.size() + num_unused < layout_.num_cells) {
        const Cell cell{static_cast<std::uint32_t>(random_.below(layout_.num_mini_buckets)),
                        next_remainder_++};
        const std::uint64_t most = layout_.num_cells - num_unused - cells.size();
        const std::uint64_t wanted = random_.below(16) == 0 ? 1 : random_.between(2, 3);
        for (std::uint64_t i = std::min(wanted, most); i > 0; --i) cells.insert(cell);
        lines_of_[cell.remainder] = {line, (line + 1 + random_.below(num_lines_ - 1)) % num_lines_};
      }
      cells.write(bytes_.data() + line * compact_line_bytes);
    }
  }

  CompactLayout layout() const { return layout_; }
  CompactLineCells cells_of(std::uint64_t line) const {
    return {layout_, bytes_.data() + line * compact_line_bytes};
  }
  template <class Visit>
  bool any_fingerprint(std::uint64_t line, Visit visit) const {
    return CompactLineCells::any_fingerprint(layout_, bytes_.data() + line * compact_line_bytes, visit);
  }
  std::uint32_t load(std::uint64_t line) const { return cells_of(line).size(); }
  std::uint64_t other_line(std::uint64_t line, const Cell& cell) const {
    const auto [first, second] = lines_of_.at(cell.remainder);
    return line == first ? second : first;
  }
  void move(std::uint64_t from, std::uint64_t to, const Cell& cell, std::uint32_t count) {
    CompactLineCells old_line = cells_of(from);
    CompactLineCells new_line = cells_of(to);
    is_legal_ = is_legal_ && other_line(from, cell) == to && old_line.count(cell) == count &&
                new_line.size() + count <= layout_.num_cells;
    if (!is_legal_) return;
    for (; count > 0; --count) {
      old_line.remove(cell);
      new_line.insert(cell);
    }
    old_line.write(bytes_.data() + from * compact_line_bytes);
    new_line.write(bytes_.data() + to * compact_line_bytes);
    ++num_moves_;
  }

  bool is_legal() const { return is_legal_; }
  int num_moves() const { return num_moves_; }
  Copies all_cells() const {
    Copies copies;
    for (std::uint64_t line = 0; line < num_lines_; ++line) {
      for (const Cell& cell : cells_of(line)) ++copies[{cell.mini_bucket, cell.remainder}];
    }
    return copies;
  }

 private:
  CompactLayout layout_{14};
  std::uint64_t num_lines_;
  std::vector<unsigned char> bytes_;
  test::Random random_;
  std::uint32_t next_remainder_ = 0;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> lines_of_;
  bool is_legal_ = true;
  int num_moves_ = 0;
};

TEST(CompactRoomSearch, MakesRoomByLegalMovesAndLosesNothing) {
  int num_found = 0;
  int num_long_chains = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CrowdedLines lines(3 + seed % 4, seed);
    const Copies before = lines.all_cells();
    const bool found = CompactRoomSearch(lines).make_room({0, 1});
    ASSERT_TRUE(lines.is_legal()) << seed;
    ASSERT_EQ(lines.all_cells(), before) << seed;
    ASSERT_EQ(found, lines.load(0) < lines.layout().num_cells || lines.load(1) < lines.layout().num_cells);
    ASSERT_EQ(found, lines.num_moves() > 0);
    num_found += found;
    num_long_chains += lines.num_moves() > 1;
  }
  EXPECT_GT(num_found, 200);
  EXPECT_GT(num_long_chains, 10);
}

TEST(CompactRoomSearch, DoesNotMoveWhatIsKept) {
  int num_found = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CrowdedLines lines(3, seed);
    const Cell kept = *lines.cells_of(0).begin();
    const std::uint32_t count = lines.cells_of(0).count(kept);
    num_found += CompactRoomSearch(lines).make_room({0}, kept);
    ASSERT_TRUE(lines.is_legal()) << seed;
    ASSERT_EQ(lines.cells_of(0).count(kept), count) << seed;
  }
  EXPECT_GT(num_found, 20);
}

}  // namespace
}  // namespace tally::detail

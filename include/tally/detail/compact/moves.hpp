#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "tally/detail/compact/line_cells.hpp"

namespace tally::detail {

/// The search for chains of moves that make room in one of a fingerprint's two full lines. A move takes all cells of a
/// fingerprint to its other line, so that they stay together.
///
/// The search visits lines, nearest first. To make room in a line for some cells, it looks at the alternatives of
/// each of its fingerprints whose cells, together with those unused already, are enough. No line occurs twice on a chain, so
/// what the search has seen there is still so when the chain is carried out, backwards: every fingerprint is in one of its
/// lines at every moment.
/// Source: Bonomi et al. 2006, Sections 3.3 and 5.2; the search is that of cuckoo tables with buckets.
template <class Table>
class CompactRoomSearch {
 public:
  explicit CompactRoomSearch(Table& table) noexcept : table_(table) {}

  /// Makes room for one cell in one of the lines, which are full. `kept` does not leave them. If this is impossible,
  /// returns false, and nothing has changed.
  bool make_room(std::initializer_list<std::uint64_t> lines,
                 std::optional<CompactLineCells::Cell> kept = {}) noexcept {
    for (const std::uint64_t line : lines) visits_[num_visits_++] = {line, none, 1, {}};
    for (std::uint16_t v = 0; v < num_visits_; ++v) {
      const std::uint32_t num_unused = table_.layout().num_cells - table_.load(visits_[v].line);
      bool is_room_left = true;
      const bool found = table_.any_fingerprint(
          visits_[v].line, [&](const CompactLineCells::Cell& cell, std::uint32_t count) {
            if (visits_[v].from == none && cell == kept) return false;
            if (num_unused + count < visits_[v].num_wanted) return false;
            const std::uint64_t to = table_.other_line(visits_[v].line, cell);
            if (is_on_chain(v, to)) return false;
            is_room_left = num_visits_ < max_visits;
            if (!is_room_left) return true;
            visits_[num_visits_++] = {to, v, count, cell};
            return table_.load(to) + count <= table_.layout().num_cells;
          });
      if (!is_room_left) return false;
      if (found) {
        carry_out(static_cast<std::uint16_t>(num_visits_ - 1));
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint16_t max_visits = 1024;
  static constexpr std::uint16_t none = max_visits;

  struct Visit {
    std::uint64_t line;
    std::uint16_t from;           // the visit whose cells would move here
    std::uint32_t num_wanted;     // how many
    CompactLineCells::Cell cell;  // what they hold
  };

  bool is_on_chain(std::uint16_t v, std::uint64_t line) const noexcept {
    for (; v != none; v = visits_[v].from) {
      if (visits_[v].line == line) return true;
    }
    return false;
  }

  void carry_out(std::uint16_t v) noexcept {
    for (; visits_[v].from != none; v = visits_[v].from) {
      const Visit& to = visits_[v];
      table_.move(visits_[to.from].line, to.line, to.cell, to.num_wanted);
    }
  }

  Table& table_;
  std::array<Visit, max_visits> visits_;
  std::uint16_t num_visits_ = 0;
};

}  // namespace tally::detail

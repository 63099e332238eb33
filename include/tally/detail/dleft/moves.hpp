#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tally/detail/batches/near_keys.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally::detail {

struct CellAddress {
  std::uint32_t subtable;
  std::uint64_t bucket;  // among the buckets of all subtables
  std::uint32_t index;   // in the bucket
};

/// Moves the cell to another of its fingerprint's buckets that has room; returns whether there was one.
template <class Table>
bool move_aside(Table& table, const CellAddress& from) {
  const std::uint64_t fingerprint = table.fingerprint_at(from);
  for (std::uint32_t i = 0; i < table.shape().num_subtables; ++i) {
    if (i == from.subtable) continue;
    const std::uint64_t image = table.scheme().image(i, fingerprint);
    if (const auto room = table.room_in(i, table.bucket_of(i, image))) {
      table.move(from, *room, image);
      return true;
    }
  }
  return false;
}

/// Finds a chain of moves that makes room in one of the full buckets of a fingerprint. The search visits buckets, nearest
/// first, and reads one only when a few more are known, so that its line arrives meanwhile. The chain is carried out
/// backwards, so that every fingerprint has a cell at every moment. No bucket occurs twice on the shortest chain, so each
/// step moves what the search found there.
///
/// A long search visits no bucket again. So in a table of at most most_buckets_searched_all buckets it finds a chain if there
/// is any.
template <class Table>
class RoomSearch {
 public:
  explicit RoomSearch(Table& table) noexcept
      : table_(table),
        visits_ahead_(table.cells().words().size_bytes() <= near_bytes ? 0 : far_visits_ahead) {}

  std::optional<CellAddress> find(const std::uint64_t* images) noexcept {
    const std::uint32_t num_subtables = table_.shape().num_subtables;
    for (std::uint32_t i = 0; i < num_subtables; ++i) visit(i, table_.bucket_of(i, images[i]), none, 0);
    num_read_ = num_subtables;
    for (std::uint32_t v = 0; v < num_visits_ && num_visits_ < max_visits; ++v) {
      if (read_until(v + 1)) return carry_out();
      for (std::uint32_t index = 0; index < table_.shape().cells_per_bucket; ++index) {
        visit_choices_of(v, index);
        if (read_until(std::max(num_visits_, visits_ahead_) - visits_ahead_)) return carry_out();
      }
    }
    if (read_until(num_visits_)) return carry_out();
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t max_visits = 1024;
  static constexpr std::uint32_t far_visits_ahead = 6;
  static constexpr std::uint32_t visits_of_long_search = max_visits - most_buckets_searched_all;
  static constexpr std::uint16_t none = max_visits;

  struct Visit {
    std::uint64_t bucket;
    std::uint32_t subtable;
    std::uint16_t from;   // the visit whose cell would move here
    std::uint16_t index;  // that cell's index there
  };

  void visit(std::uint32_t subtable, std::uint64_t bucket, std::uint32_t from, std::uint32_t index) noexcept {
    visits_[num_visits_++] = {bucket, subtable, static_cast<std::uint16_t>(from),
                              static_cast<std::uint16_t>(index)};
  }

  /// Visits the other buckets of the fingerprint in a cell of visit v.
  void visit_choices_of(std::uint32_t v, std::uint32_t index) noexcept {
    const std::uint32_t own = visits_[v].subtable;
    const std::uint64_t fingerprint = table_.fingerprint_at({own, visits_[v].bucket, index});
    for (std::uint32_t i = 0; i < table_.shape().num_subtables; ++i) {
      if (i == own || num_visits_ == max_visits) continue;
      const std::uint64_t bucket = table_.bucket_of(i, table_.scheme().image(i, fingerprint));
      if (num_visits_ >= visits_of_long_search && is_visited(bucket)) continue;
      table_.cells().prefetch_for_write(bucket);
      visit(i, bucket, v, index);
    }
  }

  /// Whether the bucket is among the visits; if not, it will be.
  bool is_visited(std::uint64_t bucket) noexcept {
    if (!is_long_) {
      slots_.fill(none);
      for (std::uint32_t v = 0; v < num_visits_; ++v)
        slot_of(visits_[v].bucket) = static_cast<std::uint16_t>(v);
      is_long_ = true;
    }
    std::uint16_t& slot = slot_of(bucket);
    if (slot != none) return true;
    slot = static_cast<std::uint16_t>(num_visits_);
    return false;
  }

  /// The slot of the visit of this bucket, or the free one that it gets.
  std::uint16_t& slot_of(std::uint64_t bucket) noexcept {
    std::size_t at = bucket * 0x9E3779B97F4A7C15u >> 53;
    while (slots_[at] != none && visits_[slots_[at]].bucket != bucket) at = (at + 1) % slots_.size();
    return slots_[at];
  }

  /// Reads the buckets before this number that are not read yet, and stops at one with room.
  bool read_until(std::uint32_t end) noexcept {
    for (; num_read_ < end; ++num_read_) {
      if ((room_ = table_.room_in(visits_[num_read_].subtable, visits_[num_read_].bucket))) return true;
    }
    return false;
  }

  /// Moves along the chain to the room that was found. Returns the cell that this frees.
  CellAddress carry_out() noexcept {
    CellAddress to = *room_;
    for (std::uint32_t v = num_read_; visits_[v].from != none; v = visits_[v].from) {
      const Visit& source = visits_[visits_[v].from];
      const CellAddress from{source.subtable, source.bucket, visits_[v].index};
      table_.move(from, to, table_.scheme().image(to.subtable, table_.fingerprint_at(from)));
      to = from;
    }
    return to;
  }

  Table& table_;
  std::uint32_t visits_ahead_;
  std::array<Visit, max_visits> visits_;
  std::uint32_t num_visits_ = 0;
  std::uint32_t num_read_ = 0;
  bool is_long_ = false;
  std::array<std::uint16_t, 2 * max_visits> slots_;  // of a long search: each the number of a visit, or none
  std::optional<CellAddress> room_;
};

/// Makes an empty cell in one of the full buckets of `images` by moving other fingerprints as the shape
/// allows. If there is none, nothing has changed. Moves change no count.
/// Source: Bonomi et al. 2006, Sections 3.3 and 5.2; the search is that of cuckoo tables with buckets.
template <class Table>
std::optional<CellAddress> make_room(Table& table, const std::uint64_t* images) {
  if (table.shape().moves == DLeftMoves::search) return RoomSearch<Table>(table).find(images);
  if (table.shape().moves == DLeftMoves::first_subtable) {
    for (std::uint32_t index = 0; index < table.shape().cells_per_bucket; ++index) {
      const CellAddress first{0, table.bucket_of(0, images[0]), index};
      if (detail::move_aside(table, first)) return first;
    }
  }
  return std::nullopt;
}

}  // namespace tally::detail

#pragma once

#include <array>
#include <cstdint>
#include <optional>

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

/// Finds chains of moves, nearest first, from the buckets of `images`. The chain is carried out backwards, so
/// that every fingerprint has a cell at every moment. No bucket occurs twice on the shortest chain, so each
/// step moves what the search found there.
template <class Table>
std::optional<CellAddress> search_room(Table& table, const std::uint64_t* images) {
  struct Visit {
    std::uint64_t bucket;
    std::uint32_t subtable;
    std::uint16_t from;   // the visit whose cell would move here
    std::uint16_t index;  // that cell's index there
  };
  constexpr std::uint16_t max_visits = 1024;
  const std::uint32_t num_subtables = table.shape().num_subtables;
  std::array<Visit, max_visits> visits;
  std::uint16_t num_visits = 0;
  for (std::uint32_t i = 0; i < num_subtables; ++i) {
    visits[num_visits] = {table.bucket_of(i, images[i]), i, num_visits, 0};
    ++num_visits;
  }

  const auto carry_out = [&](std::uint16_t v, CellAddress to) {
    while (v >= num_subtables) {
      const Visit& source = visits[visits[v].from];
      const CellAddress from{source.subtable, source.bucket, visits[v].index};
      table.move(from, to, table.scheme().image(to.subtable, table.fingerprint_at(from)));
      to = from;
      v = visits[v].from;
    }
    return to;
  };

  for (std::uint16_t v = 0; v < num_visits; ++v) {
    for (std::uint16_t index = 0; index < table.shape().cells_per_bucket; ++index) {
      const Visit here = visits[v];
      const std::uint64_t fingerprint = table.fingerprint_at({here.subtable, here.bucket, index});
      for (std::uint32_t i = 0; i < num_subtables; ++i) {
        if (i == here.subtable) continue;
        if (num_visits == max_visits) return std::nullopt;
        const std::uint64_t bucket = table.bucket_of(i, table.scheme().image(i, fingerprint));
        visits[num_visits] = {bucket, i, v, index};
        if (const auto room = table.room_in(i, bucket)) return carry_out(num_visits, *room);
        ++num_visits;
      }
    }
  }
  return std::nullopt;
}

/// Makes an empty cell in one of the full buckets of `images` by moving other fingerprints as the shape
/// allows. If there is none, nothing has changed. Moves change no count.
/// Source: Bonomi et al. 2006, Sections 3.3 and 5.2; the search is that of cuckoo tables with buckets.
template <class Table>
std::optional<CellAddress> make_room(Table& table, const std::uint64_t* images) {
  if (table.shape().moves == DLeftMoves::search) return detail::search_room(table, images);
  if (table.shape().moves == DLeftMoves::first_subtable) {
    for (std::uint32_t index = 0; index < table.shape().cells_per_bucket; ++index) {
      const CellAddress first{0, table.bucket_of(0, images[0]), index};
      if (detail::move_aside(table, first)) return first;
    }
  }
  return std::nullopt;
}

}  // namespace tally::detail

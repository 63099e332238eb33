#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "tally/detail/dleft/table.hpp"

namespace tally::detail {

/// Doubles a table in which an insertion found no cell, if its shape allows that. Returns whether it has
/// grown.
template <BucketScheme Scheme>
bool grow_by_itself(DLeftTable<Scheme>& table) noexcept try {
  if (!table.may_grow_by_itself()) return false;
  table.split_buckets();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

/// Inserts every fingerprint of `from` with its count. Returns no_cell or no_spill if one finds no room;
/// `into` must then be discarded. Both have the same fingerprint space and seed.
template <BucketScheme Scheme>
DLeftInserted insert_all(DLeftTable<Scheme>& into, const DLeftTable<Scheme>& from) {
  DLeftInserted how = DLeftInserted::plainly;
  from.for_each([&](std::uint64_t fingerprint, std::uint64_t count) {
    if (!is_in(how)) return;
    std::array<std::uint64_t, max_num_subtables> images;
    into.scheme().all_images(fingerprint, into.shape().num_subtables, images.data());
    how = into.insert(images.data(), count);
  });
  return how;
}

/// Makes this the table of both multisets, with exact counts. It has the size of the larger table, or is
/// doubled as often as needed if it may grow. Returns false and changes nothing if the result does not fit.
/// Throws std::bad_alloc, and then changes nothing.
template <BucketScheme Scheme>
bool try_merge(DLeftTable<Scheme>& table, const DLeftTable<Scheme>& other) {
  for (std::uint32_t num_doublings = std::max(table.shape().num_doublings, other.shape().num_doublings);;
       ++num_doublings) {
    DLeftTable<Scheme> sum = table;
    while (sum.shape().num_doublings < num_doublings) sum.split_buckets();
    const DLeftInserted how = insert_all(sum, other);
    if (is_in(how)) {
      table = std::move(sum);
      return true;
    }
    if (how != DLeftInserted::no_cell || !sum.may_grow_by_itself()) return false;
  }
}

/// Reverses a doubling; there must have been one. Returns false and changes nothing if the fingerprints do
/// not fit. Throws std::bad_alloc, and then changes nothing.
template <BucketScheme Scheme>
bool try_halve(DLeftTable<Scheme>& table, std::uint64_t seed) {
  DLeftShape shape = table.shape();
  --shape.num_doublings;
  DLeftTable<Scheme> smaller(shape, seed);
  if (!is_in(insert_all(smaller, table))) return false;
  table = std::move(smaller);
  return true;
}

}  // namespace tally::detail

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "tally/filters/dleft_table.hpp"

namespace tally {

/// Inserts every fingerprint of `from` with its count. no_cell or no_spill, and `into` is of no use then, if one
/// finds no room. Both are of the same fingerprint space and seed.
template <BucketScheme Scheme>
DLeftInserted insert_all(DLeftTable<Scheme>& into, const DLeftTable<Scheme>& from) {
  DLeftInserted how = DLeftInserted::plainly;
  from.for_each([&](std::uint64_t fingerprint, std::uint64_t count) {
    if (!is_in(how)) return;
    std::array<std::uint64_t, max_num_subtables> places;
    into.scheme().place_all(fingerprint, into.shape().num_subtables, places.data());
    how = into.insert(places.data(), count);
  });
  return how;
}

/// The table of both multisets, exact, count by count: of the size of the larger, or as often doubled as it
/// takes where `a` may grow. Nothing if it does not fit. Throws std::bad_alloc.
template <BucketScheme Scheme>
std::optional<DLeftTable<Scheme>> merged(const DLeftTable<Scheme>& a, const DLeftTable<Scheme>& b) {
  for (std::uint32_t num_doublings = std::max(a.shape().num_doublings, b.shape().num_doublings);;
       ++num_doublings) {
    DLeftTable<Scheme> sum = a;
    while (sum.shape().num_doublings < num_doublings) sum.split_buckets();
    const DLeftInserted how = insert_all(sum, b);
    if (is_in(how)) return sum;
    if (how != DLeftInserted::no_cell || !sum.may_grow_by_itself()) return std::nullopt;
  }
}

/// The same multiset with one doubling less, of which there must be one. Nothing if it does not fit.
/// Throws std::bad_alloc.
template <BucketScheme Scheme>
std::optional<DLeftTable<Scheme>> halved(const DLeftTable<Scheme>& table, std::uint64_t seed) {
  DLeftShape shape = table.shape();
  --shape.num_doublings;
  DLeftTable<Scheme> smaller(shape, seed);
  if (!is_in(insert_all(smaller, table))) return std::nullopt;
  return smaller;
}

}  // namespace tally

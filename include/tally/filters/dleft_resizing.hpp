#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tally/filters/dleft_table.hpp"

namespace tally {

/// Inserts every fingerprint of `from` with its count; false, and `into` is of no use then, if one finds
/// no room. Both are of the same fingerprint space and seed.
template <BucketScheme Scheme>
bool insert_all(DLeftTable<Scheme>& into, const DLeftTable<Scheme>& from) {
  using Inserted = typename DLeftTable<Scheme>::Inserted;
  bool all = true;
  from.for_each([&](std::uint64_t fingerprint, std::uint64_t count) {
    if (!all) return;
    std::array<std::uint64_t, max_num_subtables> places;
    into.scheme().place_all(fingerprint, into.shape().num_subtables, places.data());
    const Inserted how = into.insert(places.data(), count);
    all = how == Inserted::plainly || how == Inserted::by_moves;
  });
  return all;
}

/// The table of both multisets, of the size of the larger: exact, count by count. Nothing if it does
/// not fit. Throws std::bad_alloc.
template <BucketScheme Scheme>
std::optional<DLeftTable<Scheme>> merged(const DLeftTable<Scheme>& a, const DLeftTable<Scheme>& b) {
  DLeftTable<Scheme> sum = a;
  while (sum.shape().num_doublings < b.shape().num_doublings) sum.split_buckets();
  if (!insert_all(sum, b)) return std::nullopt;
  return sum;
}

/// The same multiset with one doubling less, of which there must be one. Nothing if it does not fit.
/// Throws std::bad_alloc.
template <BucketScheme Scheme>
std::optional<DLeftTable<Scheme>> halved(const DLeftTable<Scheme>& table, std::uint64_t seed) {
  DLeftShape shape = table.shape();
  --shape.num_doublings;
  DLeftTable<Scheme> smaller(shape, seed);
  if (!insert_all(smaller, table)) return std::nullopt;
  return smaller;
}

}  // namespace tally

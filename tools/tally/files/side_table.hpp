#pragma once

#include <cstdint>
#include <span>

#include "tally/any_filter.hpp"

namespace tally::cli {

/// Inserts the keys into a d-left filter, and enlarges its side table if frequent keys use it up. The other
/// contents of the filter and its false positive rate stay the same. The filter then takes more memory and
/// has another shape.
///
/// Returns how many keys found no cell, as AnyFilter::insert_batch does. Throws std::bad_alloc.
std::uint64_t insert_with_growing_side_table(AnyFilter& filter, std::span<const Hash128> digests);

/// Entries in use, and the number of entries.
struct SideTableUse {
  std::uint64_t num_used = 0;
  std::uint64_t capacity = 0;
};
SideTableUse side_table_use(const AnyFilter& filter);

}  // namespace tally::cli

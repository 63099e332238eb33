#pragma once

#include <cstdint>

namespace tally {

/// One of equal parts of a filter's memory. Several threads fill a filter without locks if each has a part of its own: each
/// inserts all keys in its part (`insert_batch(keys, part)`), and the filter is complete once all parts have had all keys.
struct FilterPart {
  std::uint32_t index = 0;      ///< below num_parts
  std::uint32_t num_parts = 1;  ///< at least 1
};

}  // namespace tally

#pragma once

#include <cstddef>
#include <cstdint>

namespace tally {

/// A key of a batch that has just reached the threshold of a stream.
struct ReachedKey {
  std::size_t index = 0;    ///< of the key in the batch
  std::uint64_t count = 0;  ///< its count, or the sum of its weights, at that moment

  friend bool operator==(const ReachedKey&, const ReachedKey&) = default;
};

}  // namespace tally

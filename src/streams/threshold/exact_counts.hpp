#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tally/hashing/hash128.hpp"

namespace tally::detail {

/// Counts by digest. All of their memory is in a few large pieces, which go back to the system together.
struct ExactCounts {
  struct Hash {
    std::size_t operator()(Hash128 digest) const noexcept { return digest.low; }
  };

  /// In an order that does not depend on how the table grew.
  std::vector<std::pair<Hash128, std::uint32_t>> sorted() const;

  std::pmr::monotonic_buffer_resource memory{std::size_t{1} << 18};
  std::pmr::unordered_map<Hash128, std::uint32_t, Hash> counts{&memory};
};

}  // namespace tally::detail

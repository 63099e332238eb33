#pragma once

#include <cstdint>

namespace tally {

/// An entry of SharedEntryCounts and its count; 2^32 - 1 stands for that or more.
struct EntryCount {
  static constexpr std::uint32_t max_count = ~std::uint32_t{0};

  std::uint64_t entry = 0;
  std::uint32_t count = 0;

  friend bool operator==(const EntryCount&, const EntryCount&) = default;
  friend auto operator<=>(const EntryCount&, const EntryCount&) = default;
};

}  // namespace tally

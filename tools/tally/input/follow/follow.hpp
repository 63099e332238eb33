#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::cli {

/// Whether files are read to their end, or followed: as they are, or only what is written from now on.
enum class Follow : std::uint8_t { no, whole, new_lines };

/// Whole lines of a file that is followed.
struct FollowedBlock {
  std::span<const char> bytes;  ///< empty: none
  std::size_t number = 0;       ///< of the opened file
  bool begins_file = false;     ///< nothing of it was returned before, under this number
};

}  // namespace tally::cli

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tally/export.hpp"

namespace tally {

/// Thrown for invalid bytes: a filter file (docs/format.md), a summary message (docs/summaries.md), another
/// system's digest. It has the reason and the offset of the byte. what() has both: "tally file: kind is 9;
/// must be 1 to 4 (at byte 10)".
class TALLY_EXPORT FormatError : public std::runtime_error {
 public:
  FormatError(const std::string& reason, std::uint64_t offset, const std::string& subject = "tally file")
      : std::runtime_error(subject + ": " + reason + " (at byte " + std::to_string(offset) + ")"),
        reason_(reason),
        offset_(offset) {}

  const std::string& reason() const noexcept { return reason_; }
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::string reason_;
  std::uint64_t offset_;
};

}  // namespace tally

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tally {

/// Bytes that are no filter file (docs/format.md): the reason, and the byte where it shows.
/// what() holds both: "tally file: kind is 9; must be 1 to 4 (at byte 10)".
class FormatError : public std::runtime_error {
 public:
  FormatError(const std::string& reason, std::uint64_t offset)
      : std::runtime_error("tally file: " + reason + " (at byte " + std::to_string(offset) + ")"),
        reason_(reason),
        offset_(offset) {}

  const std::string& reason() const noexcept { return reason_; }
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::string reason_;
  std::uint64_t offset_;
};

}  // namespace tally

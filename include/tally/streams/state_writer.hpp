#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tally/streams/state_kind.hpp"

namespace tally {

class AnyFilter;

/// Collects the state of a stream, so that a later run can resume where this one stopped (docs/format.md). Every function
/// may throw std::bad_alloc.
class StateWriter {
 public:
  StateWriter(StateKind kind, const StateOptions& options);

  void number(std::uint64_t value);
  void numbers(std::span<const std::uint64_t> values);
  void text(std::string_view text);
  void filter(const AnyFilter& filter);  ///< as an ordinary filter file

  /// The whole state, with length and checksum.
  std::vector<std::byte> bytes() const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace tally

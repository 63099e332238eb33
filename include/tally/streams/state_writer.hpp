#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tally/any_filter/filter_view.hpp"
#include "tally/export.hpp"
#include "tally/streams/state_kind.hpp"
#include "tally/streams/state_part.hpp"

namespace tally {

class HashSet;

/// Collects the state of a stream, so that a later run can resume where this one stopped (docs/format.md). Every function
/// may throw std::bad_alloc.
class TALLY_EXPORT StateWriter {
 public:
  StateWriter(StateKind kind, const StateOptions& options);
  /// Filters, sets and large numbers become parts instead, and `bytes` the head of a state in pieces. What was passed must
  /// outlive the parts. See StatePieces.
  StateWriter(StateKind kind, const StateOptions& options, std::vector<StatePart>& parts);

  void number(std::uint64_t value);
  void numbers(std::span<const std::uint64_t> values);
  void text(std::string_view text);
  void filter(const FilterView& filter);  ///< as an ordinary filter file
  void set(const HashSet& set);           ///< as its image
  /// As `numbers`, for more than a few.
  void large_numbers(std::vector<std::uint64_t> values);

  /// The whole state, with length and checksum.
  std::vector<std::byte> bytes() const;

 private:
  StateWriter(StateKind kind, const StateOptions& options, std::vector<StatePart>* parts);

  std::vector<std::byte> bytes_;
  std::vector<StatePart>* parts_;  // null: everything goes into bytes_
};

}  // namespace tally

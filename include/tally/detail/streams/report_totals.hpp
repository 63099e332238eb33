#pragma once

#include <cstdint>

#include "tally/sets/hash_set.hpp"

namespace tally::detail {

/// Reports so far of a stream that reports each key once.
struct ReportTotals {
  std::uint64_t num_reported = 0;
  std::uint64_t num_possible_repeats = 0;

  /// Whether to report a key, given what the set of reported keys answered.
  bool take(HashSet::Outcome outcome) noexcept {
    if (outcome == HashSet::Outcome::present) return false;
    num_possible_repeats += outcome == HashSet::Outcome::full;
    ++num_reported;
    return true;
  }
  /// Whether the report that was taken last is the first that may be a repeat.
  bool has_just_filled(HashSet::Outcome outcome) const noexcept {
    return outcome == HashSet::Outcome::full && num_possible_repeats == 1;
  }
};

}  // namespace tally::detail

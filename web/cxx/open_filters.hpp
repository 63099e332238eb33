#pragma once

#include <cstdint>

#include "arguments.hpp"
#include "tally/any_filter.hpp"

namespace tally::page {

/// The filters that JavaScript has made and not freed, by handle.
class OpenFilters {
 public:
  static std::uint64_t add(AnyFilter filter);
  /// The filter of the field "handle". Throws std::invalid_argument if there is none.
  static AnyFilter& get(Arguments& arguments);
  static void free(Arguments& arguments);
};

/// Where a structure looks for a key, whether it is in there or not.
///
///   filters with positions  {"positions": [...]}
///   count-min               {"columns": [...]}, one per row
///   dleft                   {"fingerprint": {"bucket", "remainder"}, "candidates": [{"subtable", "bucket"}, ...],
///                           "cell": {"subtable", "bucket", "cell"} or null}
///   compact-dleft           {"fingerprint": {"line", "mini_bucket", "remainder"}, "candidates": [{"subtable", "line"}, ...]}
Json places_of(const AnyFilter& filter, Hash128 digest);

}  // namespace tally::page

#pragma once

#include <optional>
#include <utility>

#include "tally/any_filter.hpp"
#include "tally/streams/state_reader.hpp"

namespace tally::detail {

/// The next filter of a state. Throws FormatError if it has another kind or hash than wanted.
template <class Filter>
Filter filter_of(StateReader& state, const KeyHasher& hasher, const std::optional<HashKey>& key) {
  AnyFilter any = state.filter(key);
  Filter* const filter = any.get_if<Filter>();
  if (filter == nullptr || filter->hasher() != hasher)
    state.fail("a filter has another kind or hash than the stream");
  return std::move(*filter);
}

}  // namespace tally::detail

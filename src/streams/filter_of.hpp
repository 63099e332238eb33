#pragma once

#include <optional>
#include <type_traits>

#include "tally/any_filter.hpp"
#include "tally/streams/state_reader.hpp"

namespace tally::detail {

/// The next filter of a state. Throws FormatError if it has another kind or hash than wanted.
template <class Filter>
Filter filter_of(StateReader& state, const KeyHasher& hasher, const std::optional<HashKey>& key) {
  const AnyFilter any = state.filter(key);
  return any.visit([&](const auto& inside) -> Filter {
    if constexpr (std::is_same_v<std::decay_t<decltype(inside)>, Filter>) {
      if (inside.hasher() == hasher) return inside;
    }
    state.fail("a filter has another kind or hash than the stream");
  });
}

}  // namespace tally::detail

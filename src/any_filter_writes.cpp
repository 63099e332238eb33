#include <algorithm>
#include <array>

#include "any_filter_dispatch.hpp"

namespace tally {

void AnyFilter::insert_batch(std::span<const Hash128> keys) {
  std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.insert_batch(keys); }) {
          filter.insert_batch(keys);
        } else {
          std::array<ThresholdState, keys_per_window> states;
          for (std::size_t first = 0; first < keys.size(); first += states.size()) {
            const auto window = keys.subspan(first, std::min(states.size(), keys.size() - first));
            filter.insert_batch(window, std::span(states).first(window.size()));
          }
        }
      },
      filter_);
}

void AnyFilter::insert_batch(std::span<const Hash128> keys, std::span<ThresholdState> states) {
  detail::require_equally_long(keys.size(), states.size());
  std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.insert_batch(keys, states); }) {
          filter.insert_batch(keys, states);
        } else {
          detail::throw_unsupported("insert with a state", kind(), "threshold");
        }
      },
      filter_);
}

void AnyFilter::remove_batch(std::span<const Hash128> keys, std::span<RemoveResult> results) {
  detail::require_equally_long(keys.size(), results.size());
  std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.remove_batch(keys, results); }) {
          filter.remove_batch(keys, results);
        } else {
          detail::throw_unsupported("remove", kind(), "counting-bloom");
        }
      },
      filter_);
}

void AnyFilter::merge(const AnyFilter& other) {
  detail::require_same("AnyFilter", "kind", name_of(kind()), name_of(other.kind()));
  detail::require_same("AnyFilter", "scheme", shape().scheme_name(), other.shape().scheme_name());
  std::visit(
      [&](auto& filter) {
        // Kind and scheme agree, so the alternative does.
        filter.merge(std::get<std::remove_reference_t<decltype(filter)>>(other.filter_));
      },
      filter_);
}

}  // namespace tally

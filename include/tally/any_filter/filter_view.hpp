#pragma once

#include <cstdint>
#include <span>

#include "tally/any_filter/filter_totals.hpp"
#include "tally/any_filter/filter_variant.hpp"
#include "tally/export.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/filter.hpp"

namespace tally {

class AnyFilter;

namespace detail {

/// Whether the filter has lines or buckets of cells, and a side table: a d-left filter or a compact one.
template <class F>
inline constexpr bool has_side_table =
    filter_type<F>.kind == FilterKind::dleft || filter_type<F>.kind == FilterKind::compact_dleft;

template <class F>
FilterTotals totals_of(const F& filter) noexcept {
  if constexpr (has_side_table<F>) {
    const DLeftTotals& totals = filter.totals();
    return {totals.num_insertions,
            totals.num_removes,
            totals.num_refused_removes,
            totals.num_full,
            totals.num_rescues,
            filter.table().num_fingerprints(),
            0};
  } else if constexpr (is_counting_bloom(filter_type<F>.kind)) {
    const auto& totals = filter.totals();
    return {totals.num_insertions, totals.num_removes, totals.num_refused_removes};
  } else if constexpr (filter_type<F>.kind == FilterKind::count_min) {
    return {.num_insertions = filter.total_count(), .rounding = filter.rounding()};
  } else {
    return {.num_insertions = filter.num_insertions()};
  }
}

}  // namespace detail

/// All of a filter that its file holds, without a copy of its memory. Every filter converts to it; it is valid until
/// the filter is changed or destroyed.
struct TALLY_EXPORT FilterView {
  template <FilterInFiles F>
  FilterView(const F& filter)
      : shape{filter.shape(), filter_type<F>.scheme_id},
        hasher(filter.hasher()),
        totals(detail::totals_of(filter)) {
    if constexpr (filter_type<F>.kind == FilterKind::dleft) {
      words = filter.table().cells().words();
      side_words = filter.table().spills().words();
    } else if constexpr (filter_type<F>.kind == FilterKind::compact_dleft) {
      words = filter.table().words().words();
      side_words = filter.table().spills().words();
    } else {
      words = filter.storage().words();
    }
  }
  FilterView(const AnyFilter& filter);

  FilterShape shape;
  KeyHasher hasher;
  FilterTotals totals;
  /// The memory of bits, counters or cells, and the side table where there is one: together the body of a file.
  std::span<const std::uint64_t> words = {};
  std::span<const std::uint64_t> side_words = {};
};

}  // namespace tally

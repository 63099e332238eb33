#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "tally/filters/bloom.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/shapes/filter_kind.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally {

namespace detail {

template <class BitSchemes, class CountingSchemes, class CellSchemes, class SketchSchemes>
struct FilterVariantOver;
template <class... BitSchemes, class... CountingSchemes, class... CellSchemes, class... SketchSchemes>
struct FilterVariantOver<SchemeList<BitSchemes...>, SchemeList<CountingSchemes...>,
                         SchemeList<CellSchemes...>, SchemeList<SketchSchemes...>> {
  using type = std::variant<BloomFilter<BitSchemes>..., CountingBloomFilter<CountingSchemes>...,
                            ThresholdFilter<CountingSchemes>..., DLeftCountingBloomFilter<CellSchemes>...,
                            CountMinSketch<SketchSchemes>..., CompactDLeftFilter, BlockedCountingBloomFilter>;
};

/// Every structure that a file can contain.
using FilterVariant = FilterVariantOver<AllSchemes, CounterSchemes, BucketSchemes, RowSchemes>::type;

template <class F, class... Alternatives>
constexpr bool is_alternative(const std::variant<Alternatives...>*) {
  return (std::is_same_v<F, Alternatives> || ...);
}

}  // namespace detail

/// A filter or sketch that AnyFilter and filter files can hold: of any scheme that the kind supports.
template <class F>
concept FilterInFiles = detail::is_alternative<F>(static_cast<const detail::FilterVariant*>(nullptr));

/// What a file says of the type of a filter.
struct FilterType {
  FilterKind kind = FilterKind::bloom;
  std::uint16_t scheme_id = 0;

  friend bool operator==(const FilterType&, const FilterType&) = default;
};

namespace detail {

template <HashScheme Scheme>
constexpr FilterType type_of(const BloomFilter<Scheme>*) noexcept {
  const bool is_blocked = is_in_one_line(Scheme::layout);
  return {is_blocked ? FilterKind::blocked_bloom : FilterKind::bloom, Scheme::file_id};
}
template <HashScheme Scheme>
constexpr FilterType type_of(const CountingBloomFilter<Scheme>*) noexcept {
  const bool is_blocked = Scheme::layout == PositionLayout::lines;
  return {is_blocked ? FilterKind::blocked_counting_bloom : FilterKind::counting_bloom, Scheme::file_id};
}
template <HashScheme Scheme>
constexpr FilterType type_of(const ThresholdFilter<Scheme>*) noexcept {
  return {FilterKind::threshold, Scheme::file_id};
}
template <BucketScheme Scheme>
constexpr FilterType type_of(const DLeftCountingBloomFilter<Scheme>*) noexcept {
  return {FilterKind::dleft, Scheme::file_id};
}
constexpr FilterType type_of(const CompactDLeftFilter*) noexcept {
  return {FilterKind::compact_dleft, RotationBuckets::file_id};
}
template <RowScheme Rows>
constexpr FilterType type_of(const CountMinSketch<Rows>*) noexcept {
  return {FilterKind::count_min, Rows::file_id};
}

}  // namespace detail

template <FilterInFiles F>
inline constexpr FilterType filter_type = detail::type_of(static_cast<const F*>(nullptr));

}  // namespace tally

#include <algorithm>
#include <optional>

#include "any_filter/dispatch.hpp"

namespace tally {
namespace {

using detail::FilterVariant;

/// The words of a body: `side` is its side table, which outlives the cells that growing replaces.
struct BodyWords {
  detail::AlignedWords main;
  detail::AlignedWords side;
};

template <class Scheme>
FilterVariant make(const BloomShapeFor<Scheme>& shape, const KeyHasher& hasher, const FilterTotals& totals,
                   BodyWords words) {
  BitArray bits(shape.num_bits, std::move(words.main));
  return BloomFilter<Scheme>(shape, hasher, totals.num_insertions, std::move(bits));
}

template <class Scheme>
FilterVariant make(const CountingBloomShapeFor<Scheme>& shape, const KeyHasher& hasher,
                   const FilterTotals& totals, BodyWords words) {
  CounterArray counters(shape.num_counters, shape.counter_bits, std::move(words.main));
  return CountingBloomFilter<Scheme>(shape, hasher,
                                     {totals.num_insertions, totals.num_removes, totals.num_refused_removes},
                                     std::move(counters));
}

template <class Scheme>
FilterVariant make(const ThresholdShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
                   BodyWords words) {
  CounterArray counters(shape.num_counters, counter_bits_for(shape), std::move(words.main));
  return ThresholdFilter<Scheme>(shape, hasher, totals.num_insertions, std::move(counters));
}

DLeftTotals dleft_totals(const FilterTotals& totals) noexcept {
  return {totals.num_insertions, totals.num_full, totals.num_rescues, totals.num_removes,
          totals.num_refused_removes};
}

FilterVariant make_compact(const CompactDLeftShape& shape, const KeyHasher& hasher,
                           const FilterTotals& totals, BodyWords words) {
  SpillTable spills(shape.spill_capacity, std::move(words.side));
  return CompactDLeftFilter(shape, hasher, dleft_totals(totals), std::move(words.main), std::move(spills),
                            totals.num_fingerprints);
}

template <class Scheme>
FilterVariant make(const DLeftShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
                   BodyWords words) {
  SpillTable spills(shape.spill_capacity, std::move(words.side));
  CellTable cells(shape.current_buckets_per_subtable() * shape.num_subtables, shape.cells_per_bucket,
                  shape.cell_bits(), std::move(words.main));
  return DLeftCountingBloomFilter<Scheme>(shape, hasher, dleft_totals(totals), std::move(cells),
                                          std::move(spills), totals.num_fingerprints);
}

template <class Rows>
FilterVariant make(const CountMinShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
                   BodyWords words) {
  CounterArray counters(shape.num_counters(), shape.counter_bits, std::move(words.main));
  return CountMinSketch<Rows>(shape, hasher, totals.num_insertions, totals.rounding, std::move(counters));
}

template <class Schemes, class Shape>
FilterVariant make_with_scheme(std::uint16_t scheme_id, const Shape& shape, const KeyHasher& hasher,
                               const FilterTotals& totals, BodyWords words) {
  std::optional<FilterVariant> made;
  Schemes::with_id(scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
    made.emplace(make<Scheme>(shape, hasher, totals, std::move(words)));
  });
  return std::move(made).value();
}

FilterVariant make_filter(const FilterShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
                          BodyWords words) {
  check_shape(shape);
  const std::uint64_t num_words = words.main.size() + words.side.size();
  if (num_words != shape.num_bytes() / 8 || words.side.size() != shape.side_bytes() / 8) {
    detail::throw_parameter_error("AnyFilter", "number of words", num_words,
                                  std::to_string(shape.num_bytes() / 8));
  }
  if (const auto* bloom = std::get_if<BloomShape>(&shape.shape)) {
    return make_with_scheme<CounterSchemes>(shape.scheme_id, *bloom, hasher, totals, std::move(words));
  }
  if (const auto* blocked = std::get_if<BlockedBloomShape>(&shape.shape)) {
    return make_with_scheme<LineSchemes>(shape.scheme_id, *blocked, hasher, totals, std::move(words));
  }
  if (const auto* blocked = std::get_if<BlockedCountingBloomShape>(&shape.shape))
    return make<BlockedScheme>(*blocked, hasher, totals, std::move(words));
  if (const auto* counting = std::get_if<CountingBloomShape>(&shape.shape)) {
    return make_with_scheme<CounterSchemes>(shape.scheme_id, *counting, hasher, totals, std::move(words));
  }
  if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) {
    return make_with_scheme<BucketSchemes>(shape.scheme_id, *dleft, hasher, totals, std::move(words));
  }
  if (const auto* compact = std::get_if<CompactDLeftShape>(&shape.shape))
    return make_compact(*compact, hasher, totals, std::move(words));
  if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    return make_with_scheme<RowSchemes>(shape.scheme_id, *count_min, hasher, totals, std::move(words));
  }
  return make_with_scheme<CounterSchemes>(shape.scheme_id, std::get<ThresholdShape>(shape.shape), hasher,
                                          totals, std::move(words));
}

BodyWords empty_words(const FilterShape& shape) {
  check_shape(shape);
  return {detail::AlignedWords((shape.num_bytes() - shape.side_bytes()) / 8),
          detail::AlignedWords(shape.side_bytes() / 8)};
}

/// Cuts the side table off the end of the words and copies it.
BodyWords divided(const FilterShape& shape, detail::AlignedWords words) {
  check_shape(shape);
  const std::uint64_t num_side_words = shape.side_bytes() / 8;
  if (num_side_words == 0 || words.size() < num_side_words) return {std::move(words), {}};
  detail::AlignedWords side(num_side_words);
  const std::uint64_t num_main_words = words.size() - num_side_words;
  std::copy_n(std::as_const(words).data() + num_main_words, num_side_words, side.data());
  words.truncate(num_main_words);
  return {std::move(words), std::move(side)};
}

}  // namespace

AnyFilter::AnyFilter(const FilterShape& shape, const KeyHasher& hasher)
    : hasher_(hasher), filter_(make_filter(shape, hasher, {}, empty_words(shape))) {}

AnyFilter::AnyFilter(const FilterShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
                     detail::AlignedWords words)
    : hasher_(hasher), filter_(make_filter(shape, hasher, totals, divided(shape, std::move(words)))) {}

AnyFilter::AnyFilter(const FilterShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
                     detail::AlignedWords words, detail::AlignedWords side_words)
    : hasher_(hasher),
      filter_(make_filter(shape, hasher, totals, {std::move(words), std::move(side_words)})) {}

AnyFilter::AnyFilter(const AnyFilter& other) = default;
AnyFilter::AnyFilter(AnyFilter&& other) noexcept = default;
AnyFilter& AnyFilter::operator=(const AnyFilter& other) { return *this = AnyFilter(other); }
AnyFilter& AnyFilter::operator=(AnyFilter&& other) noexcept = default;
AnyFilter::~AnyFilter() = default;

FilterShape AnyFilter::shape() const {
  return visit([]<class F>(const F& filter) {
    return FilterShape{filter.shape(), filter_type<F>.scheme_id};
  });
}

FilterKind AnyFilter::kind() const { return shape().kind(); }

FilterTotals AnyFilter::totals() const {
  return visit([](const auto& filter) { return detail::totals_of(filter); });
}

FilterView::FilterView(const AnyFilter& filter)
    : FilterView(filter.visit([](const auto& own) { return FilterView(own); })) {}

}  // namespace tally

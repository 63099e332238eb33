#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "tally/detail/aligned_words.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/shapes/filter.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally {

/// Calls on a structure so far, whatever their keys. What a kind does not have stays 0.
struct FilterTotals {
  std::uint64_t num_insertions = 0;  ///< those that were not refused; of a sketch the sum of all weights
  std::uint64_t num_removes = 0;     ///< those that were not refused
  std::uint64_t num_refused_removes = 0;
  std::uint64_t num_full = 0;     ///< insertions refused because there was no room; d-left filters
  std::uint64_t num_rescues = 0;  ///< insertions that found room by moves; d-left filters

  /// No calls, but kept with them so that a file need not be scanned: the cells in use of a d-left filter.
  std::uint64_t num_fingerprints = 0;

  /// No calls either: what halvings may have added to a counter of a sketch, at most.
  std::uint64_t rounding = 0;

  friend bool operator==(const FilterTotals&, const FilterTotals&) = default;
};

namespace detail {

template <class BitSchemes, class CountingSchemes, class CellSchemes, class SketchSchemes>
struct FilterVariantOver;
template <class... BitSchemes, class... CountingSchemes, class... CellSchemes, class... SketchSchemes>
struct FilterVariantOver<SchemeList<BitSchemes...>, SchemeList<CountingSchemes...>,
                         SchemeList<CellSchemes...>, SchemeList<SketchSchemes...>> {
  using type = std::variant<BloomFilter<BitSchemes>..., CountingBloomFilter<CountingSchemes>...,
                            ThresholdFilter<CountingSchemes>..., DLeftCountingBloomFilter<CellSchemes>...,
                            CountMinSketch<SketchSchemes>...>;
};

/// Every structure that can stand in a file.
using FilterVariant = FilterVariantOver<AllSchemes, CounterSchemes, BucketSchemes, RowSchemes>::type;

template <class F, class... Alternatives>
constexpr bool is_alternative(const std::variant<Alternatives...>*) {
  return (std::is_same_v<F, Alternatives> || ...);
}

template <class F>
concept FilterAlternative = is_alternative<F>(static_cast<const FilterVariant*>(nullptr));

}  // namespace detail

/// A filter or sketch whose kind and scheme are chosen at run time: what programs that read files or
/// flags work with. Keys come as digests of hasher(), in batches, with one dispatch a call.
///
/// Laws and thread rule are those of the filter inside. Spans of one call are equally long;
/// std::invalid_argument otherwise. A call that the kind does not have throws std::invalid_argument
/// that names a kind which has it; nothing has changed then.
class AnyFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape out of range, std::bad_alloc where there
  /// is not enough memory.
  AnyFilter(const FilterShape& shape, const KeyHasher& hasher);

  /// Takes over what a file held: `words` are its body, as many as the shape says. Throws as above.
  AnyFilter(const FilterShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
            detail::AlignedWords words);

  /// The filter given.
  template <detail::FilterAlternative F>
  explicit AnyFilter(F filter) : filter_(std::move(filter)) {}

  FilterShape shape() const;
  FilterKind kind() const;
  const KeyHasher& hasher() const;
  FilterTotals totals() const;

  /// Whether it has try_grow.
  bool can_grow() const { return kind() == FilterKind::dleft; }
  /// Whether it has remove_batch.
  bool can_remove() const { return kind() == FilterKind::counting_bloom || kind() == FilterKind::dleft; }
  /// Whether it has count_batch and at_least_batch.
  bool can_count() const { return has_threshold() || can_remove() || is_sketch(); }
  /// Whether it has add_batch with weights, estimate_batch and halve.
  bool is_sketch() const { return kind() == FilterKind::count_min; }
  /// Whether it has insert_batch with states.
  bool has_threshold() const { return kind() == FilterKind::threshold; }

  /// The number of keys that were refused because the filter is full, 0 for all kinds but dleft: nothing
  /// has changed for those, and all others are in.
  [[nodiscard]] std::uint64_t insert_batch(std::span<const Hash128> keys);

  /// Adds weights[i] to the count of keys[i]; the number of keys of which a counter is saturated then. Sketches only.
  std::uint64_t add_batch(std::span<const Hash128> keys, std::span<const std::uint64_t> weights);

  /// states[i]: whether keys[i] has now been inserted at least shape().threshold() times. Threshold only.
  void insert_batch(std::span<const Hash128> keys, std::span<ThresholdState> states);

  /// Whether the key may have been inserted; of a threshold filter: at least shape().threshold() times.
  void may_contain_batch(std::span<const Hash128> keys, std::span<bool> results) const;

  /// Whether the key may have been inserted `theta` times: 1 to shape().threshold() for counting
  /// Bloom and d-left filters and for sketches; the threshold itself for threshold filters.
  void at_least_batch(std::span<const Hash128> keys, std::uint64_t theta, std::span<bool> results) const;

  /// All but Bloom filters.
  void count_batch(std::span<const Hash128> keys, std::span<Count> results) const;

  /// Counts with their bounds. Sketches only.
  void estimate_batch(std::span<const Hash128> keys, std::span<CountEstimate> results) const;

  /// Counting Bloom and d-left filters.
  void remove_batch(std::span<const Hash128> keys, std::span<RemoveResult> results);

  /// Adds what is in the other filter. False, and nothing has changed, if both do not fit into this one: only
  /// d-left filters can be full. Throws std::invalid_argument that names the first of kind, scheme,
  /// hasher and shape that differs; nothing has changed then.
  [[nodiscard]] bool merge(const AnyFilter& other);

  /// Doubles a d-left filter, without its keys. False, and nothing has changed, if its remainders have no bit to
  /// spare. Throws std::bad_alloc, and nothing has changed then.
  [[nodiscard]] bool try_grow();

  /// Halves every count, rounded up. Sketches only.
  void halve();

  FilterStatistics statistics() const;

  /// What only a d-left filter can tell.
  std::optional<DLeftStatistics> dleft_statistics() const;

  /// The bound that a sketch states with its estimates.
  std::optional<CountMinBound> count_min_bound() const;

  /// The memory of its bits, counters or cells, and of what a d-left filter's cells cannot count: together the
  /// body of its file.
  std::span<const std::uint64_t> words() const;
  std::span<const std::uint64_t> side_words() const;

  /// visit(the filter inside).
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return std::visit(std::forward<Visit>(visit), filter_);
  }

 private:
  detail::FilterVariant filter_;
};

}  // namespace tally

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

/// The numbers of calls on a structure so far. Numbers that do not apply to the kind stay 0.
struct FilterTotals {
  std::uint64_t num_insertions = 0;  ///< without refused ones; for a sketch the sum of all weights
  std::uint64_t num_removes = 0;     ///< without refused ones
  std::uint64_t num_refused_removes = 0;
  std::uint64_t num_full = 0;     ///< insertions that returned `full`; d-left filters
  std::uint64_t num_rescues = 0;  ///< insertions that found room by moves; d-left filters

  /// Not calls, but stored here so that reading a file need not scan it: the number of cells in use in a d-left filter.
  std::uint64_t num_fingerprints = 0;

  /// Not calls either: the most that halvings may have added to a counter of a sketch.
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

/// Every structure that a file can contain.
using FilterVariant = FilterVariantOver<AllSchemes, CounterSchemes, BucketSchemes, RowSchemes>::type;

template <class F, class... Alternatives>
constexpr bool is_alternative(const std::variant<Alternatives...>*) {
  return (std::is_same_v<F, Alternatives> || ...);
}

template <class F>
concept FilterAlternative = is_alternative<F>(static_cast<const FilterVariant*>(nullptr));

}  // namespace detail

/// A filter or sketch whose kind and scheme are chosen at run time, for programs that read files or flags. It takes
/// keys as digests of hasher(), in batches, with one dispatch per call.
///
/// Guarantees and thread safety are those of the filter inside. All spans of a call must have the same length;
/// otherwise it throws std::invalid_argument. A call that the kind does not support throws std::invalid_argument that
/// names the kinds which do, and changes nothing.
class AnyFilter {
 public:
  /// An empty filter. Throws std::invalid_argument for a shape out of range, and std::bad_alloc if there is not enough
  /// memory.
  AnyFilter(const FilterShape& shape, const KeyHasher& hasher);

  /// A filter with the content of a file: `words` are its body, and the shape determines their number. Throws as above.
  AnyFilter(const FilterShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
            detail::AlignedWords words);

  /// Holds the given filter.
  template <detail::FilterAlternative F>
  explicit AnyFilter(F filter) : filter_(std::move(filter)) {}

  // Not inline: each is instantiated for every structure.
  AnyFilter(const AnyFilter& other);
  AnyFilter(AnyFilter&& other) noexcept;
  /// If there is not enough memory, throws std::bad_alloc and changes nothing.
  AnyFilter& operator=(const AnyFilter& other);
  AnyFilter& operator=(AnyFilter&& other) noexcept;
  ~AnyFilter();

  FilterShape shape() const;
  FilterKind kind() const;
  const KeyHasher& hasher() const;
  FilterTotals totals() const;

  /// Whether it has try_grow.
  bool can_grow() const { return traits_of(kind()).can_grow; }
  /// Whether it has remove_batch.
  bool can_remove() const { return traits_of(kind()).can_remove; }
  /// Whether it has count_batch and at_least_batch.
  bool can_count() const { return traits_of(kind()).can_count; }
  /// Whether it has add_batch with weights, estimate_batch and halve.
  bool is_sketch() const { return traits_of(kind()).takes_weights; }
  /// Whether it has insert_batch with states.
  bool has_threshold() const { return traits_of(kind()).tells_states; }

  /// Returns the number of keys that were refused because the filter is full; always 0 for all kinds but dleft. All
  /// other keys were inserted.
  [[nodiscard]] std::uint64_t insert_batch(std::span<const Hash128> keys);

  /// Adds weights[i] to the count of keys[i]. Returns the number of keys with a saturated counter. Sketches only.
  std::uint64_t add_batch(std::span<const Hash128> keys, std::span<const std::uint64_t> weights);

  /// Sets states[i] to whether keys[i] has reached the threshold. Threshold filters only.
  void insert_batch(std::span<const Hash128> keys, std::span<ThresholdState> states);

  /// Whether the key may have been inserted; for a threshold filter: whether it may have reached the threshold.
  void may_contain_batch(std::span<const Hash128> keys, std::span<bool> results) const;

  /// Whether the key may have been inserted `theta` times: 1 to shape().largest_theta() for counting
  /// Bloom and d-left filters and for sketches; the threshold itself for threshold filters.
  void at_least_batch(std::span<const Hash128> keys, std::uint64_t theta, std::span<bool> results) const;

  /// Not for Bloom filters.
  void count_batch(std::span<const Hash128> keys, std::span<Count> results) const;

  /// Counts with their bounds. Sketches only.
  void estimate_batch(std::span<const Hash128> keys, std::span<CountEstimate> results) const;

  /// Counting Bloom and d-left filters.
  void remove_batch(std::span<const Hash128> keys, std::span<RemoveResult> results);

  /// Adds the content of the other filter. Returns false and changes nothing if both do not fit into this one, which
  /// happens only to d-left filters. Throws std::invalid_argument that names the first difference in kind, scheme,
  /// hasher and shape, and changes nothing.
  [[nodiscard]] bool merge(const AnyFilter& other);

  /// Doubles a d-left filter, without its keys. Returns false and changes nothing if its remainders have no bit to
  /// spare. If there is not enough memory, throws std::bad_alloc and changes nothing.
  [[nodiscard]] bool try_grow();

  /// Halves every count, rounded up. Sketches only.
  void halve();

  FilterStatistics statistics() const;

  /// The statistics that only a d-left filter has; nothing for other kinds.
  std::optional<DLeftStatistics> dleft_statistics() const;

  /// The bound on the estimates of a sketch; nothing for filters.
  std::optional<CountMinBound> count_min_bound() const;

  /// The memory of bits, counters or cells, and the side table of a d-left filter: together the body of a file.
  std::span<const std::uint64_t> words() const;
  std::span<const std::uint64_t> side_words() const;

  /// Calls `visit` with the filter inside.
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return std::visit(std::forward<Visit>(visit), filter_);
  }

 private:
  detail::FilterVariant filter_;
};

}  // namespace tally

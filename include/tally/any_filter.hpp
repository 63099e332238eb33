#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "tally/any_filter/filter_totals.hpp"
#include "tally/any_filter/filter_variant.hpp"
#include "tally/any_filter/filter_view.hpp"
#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"
#include "tally/filters/filter_part.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/shapes/filter.hpp"

namespace tally {

/// A filter or sketch whose kind and scheme are chosen at run time, for programs that read files or flags. It has one
/// dispatch per call. Batches take keys as digests of hasher().
///
/// Guarantees and thread safety are those of the filter inside. All spans of a call must have the same length;
/// otherwise it throws std::invalid_argument. A call that the kind does not support throws std::invalid_argument that
/// names the kinds which do, and changes nothing.
class TALLY_EXPORT AnyFilter {
 public:
  /// An empty filter. Throws std::invalid_argument for a shape out of range, and std::bad_alloc if there is not enough
  /// memory.
  AnyFilter(const FilterShape& shape, const KeyHasher& hasher);

  /// A filter with the content of a file: `words` are its body, and the shape determines their number. The side table at
  /// their end is copied. Throws as above.
  AnyFilter(const FilterShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
            detail::AlignedWords words);
  /// The same without a copy: `words` and `side_words` are those of a FilterView.
  AnyFilter(const FilterShape& shape, const KeyHasher& hasher, const FilterTotals& totals,
            detail::AlignedWords words, detail::AlignedWords side_words);

  /// Holds the given filter.
  template <FilterInFiles F>
  explicit AnyFilter(F filter) : hasher_(filter.hasher()), filter_(std::move(filter)) {}

  // Not inline: each is instantiated for every structure.
  AnyFilter(const AnyFilter& other);
  AnyFilter(AnyFilter&& other) noexcept;
  /// If there is not enough memory, throws std::bad_alloc and changes nothing.
  AnyFilter& operator=(const AnyFilter& other);
  AnyFilter& operator=(AnyFilter&& other) noexcept;
  ~AnyFilter();

  FilterShape shape() const;
  FilterKind kind() const;
  const KeyHasher& hasher() const noexcept { return hasher_; }
  FilterTotals totals() const;

  /// Whether an insertion may be refused because there is no room.
  bool can_fill_up() const { return traits_of(kind()).can_fill_up; }
  /// Whether it has try_grow.
  bool can_grow() const { return traits_of(kind()).can_grow; }
  /// Whether it has insert_batch with a part.
  bool has_parts() const { return traits_of(kind()).has_parts; }
  /// Whether it has remove_batch.
  bool can_remove() const { return traits_of(kind()).can_remove; }
  /// Whether it has count_batch and at_least_batch.
  bool can_count() const { return traits_of(kind()).can_count; }
  /// Whether it has add_batch with weights, estimate_batch and halve.
  bool is_sketch() const { return traits_of(kind()).takes_weights; }
  /// Whether it has insert_batch with states.
  bool has_threshold() const { return traits_of(kind()).tells_states; }

  // One key. Each does what the function of the same name does for a batch.

  /// `full` if the key was refused, `saturated` if a counter of a counting filter or sketch is at its maximum.
  template <Key K>
  [[nodiscard]] InsertResult insert(K&& key) {
    return insert_digest(hasher_(key));
  }
  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const {
    return may_contain_digest(hasher_(key));
  }
  template <Key K>
  [[nodiscard]] Count count(K&& key) const {
    return count_digest(hasher_(key));
  }
  template <Key K>
  [[nodiscard]] RemoveResult remove(K&& key) {
    return remove_digest(hasher_(key));
  }

  // Batches.

  /// Returns the number of keys that were refused because the filter is full; 0 for kinds that cannot fill up. All
  /// other keys were inserted.
  [[nodiscard]] std::uint64_t insert_batch(std::span<const Hash128> keys);

  /// Inserts the keys in one part of the memory, so that several threads fill the filter. See BloomFilter and
  /// CountingBloomFilter; other kinds throw std::invalid_argument.
  void insert_batch(std::span<const Hash128> keys, FilterPart part);

  /// Inserts the keys in order, and sets outcomes[i] to what the insertion of keys[i] found: a key that is in the batch
  /// twice is new and then seen. A key is `seen` by mistake with the false positive rate of the moment (a threshold
  /// filter: that of threshold 1), and never `new_key` by mistake. All kinds.
  void insert_batch(std::span<const Hash128> keys, std::span<InsertOutcome> outcomes);

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

  /// Counting Bloom filters, blocked or not, d-left and compact d-left filters.
  void remove_batch(std::span<const Hash128> keys, std::span<RemoveResult> results);

  /// Adds the content of the other filter. Returns false and changes nothing if both do not fit into this one, which
  /// happens only to kinds that can fill up. Throws std::invalid_argument that names the first difference in kind,
  /// scheme, hasher and shape, and changes nothing.
  [[nodiscard]] bool merge(const AnyFilter& other);

  /// Doubles a d-left filter, without its keys. Returns false and changes nothing if its remainders have no bit to
  /// spare. If there is not enough memory, throws std::bad_alloc and changes nothing.
  [[nodiscard]] bool try_grow();

  /// FilterShape::bytes_after_growth: the memory after the next try_grow, for callers that have a limit.
  std::optional<std::uint64_t> bytes_after_growth() const { return shape().bytes_after_growth(); }

  /// Halves every count, rounded up. Sketches only.
  void halve();

  /// Removes all keys. The size and the memory stay.
  void clear() noexcept;

  /// Keeps what is in both, as BloomFilter::intersect. Bloom filters only. Throws as `merge`.
  void intersect(const AnyFilter& other);

  FilterStatistics statistics() const;

  /// The statistics that only a d-left filter has; nothing for other kinds.
  std::optional<DLeftStatistics> dleft_statistics() const;

  /// The statistics that only a compact d-left filter has; nothing for other kinds.
  std::optional<CompactDLeftStatistics> compact_statistics() const;

  /// The bound on the estimates of a sketch; nothing for filters.
  std::optional<CountMinBound> count_min_bound() const;

  /// FilterView::words and FilterView::side_words.
  std::span<const std::uint64_t> words() const { return FilterView(*this).words; }
  std::span<const std::uint64_t> side_words() const { return FilterView(*this).side_words; }

  /// The filter inside if it has this type, else nullptr.
  template <FilterInFiles F>
  const F* get_if() const noexcept {
    return std::get_if<F>(&filter_);
  }
  template <FilterInFiles F>
  F* get_if() noexcept {
    return std::get_if<F>(&filter_);
  }

  /// Calls `visit` with the filter inside.
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return std::visit(std::forward<Visit>(visit), filter_);
  }

  /// Whether files of both would hold the same.
  friend bool operator==(const AnyFilter& a, const AnyFilter& b) { return a.equals(b); }

 private:
  bool equals(const AnyFilter& other) const;
  InsertResult insert_digest(Hash128 digest);
  bool may_contain_digest(Hash128 digest) const;
  Count count_digest(Hash128 digest) const;
  RemoveResult remove_digest(Hash128 digest);

  KeyHasher hasher_;
  detail::FilterVariant filter_;
};

}  // namespace tally

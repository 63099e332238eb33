#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "tally/detail/dleft/kernels.hpp"
#include "tally/detail/dleft/resizing.hpp"
#include "tally/detail/dleft/snapshot.hpp"
#include "tally/detail/dleft/table.hpp"
#include "tally/filters/dleft_statistics.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally {

/// A multiset of keys with insert, remove and count in half the memory of a counting Bloom filter. Each key's
/// fingerprint and count are in one cell of a d-left hash table.
///
/// Guarantee: `count` is never below the number of times the key is in the multiset, and only keys with the
/// same fingerprint can raise it above that, as long as only keys in it are removed. Removing a key whose
/// fingerprint is absent is refused. Counts have no maximum. An insertion that finds no room returns `full`
/// and changes nothing; nothing is ever lost.
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// Source: Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006. Moves, doubling, merging and the side table
/// for counts that a cell cannot hold follow from the permutations; docs/dleft.md explains how.
template <BucketScheme Scheme = RotationBuckets>
class DLeftCountingBloomFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the scheme cannot use, and
  /// std::bad_alloc if there is not enough memory.
  DLeftCountingBloomFilter(const DLeftShape& shape, const KeyHasher& hasher)
      : hasher_(hasher),
        space_(shape.fingerprint_space()),
        table_(checked(shape), hasher.seed_or_key_id()),
        kernels_(detail::dleft_kernels<Scheme>(shape)) {}

  /// The number of calls so far, whatever their keys.
  using Totals = DLeftTotals;

  /// Takes over the contents of a file; see DLeftTable. Throws std::invalid_argument if they do not fit the
  /// shape.
  DLeftCountingBloomFilter(const DLeftShape& shape, const KeyHasher& hasher, const Totals& totals,
                           CellTable cells, SpillTable spills, std::uint64_t num_fingerprints)
      : hasher_(hasher),
        space_(shape.fingerprint_space()),
        table_(checked(shape), hasher.seed_or_key_id(), std::move(cells), std::move(spills),
               num_fingerprints),
        kernels_(detail::dleft_kernels<Scheme>(shape)),
        totals_(totals) {
    detail::require_cells_of(shape, table_.cells(), table_.spills());
  }

  DLeftCountingBloomFilter(const DLeftCountingBloomFilter&) = default;
  DLeftCountingBloomFilter(DLeftCountingBloomFilter&&) noexcept = default;
  DLeftCountingBloomFilter& operator=(const DLeftCountingBloomFilter& other) {
    return *this = DLeftCountingBloomFilter(other);
  }
  DLeftCountingBloomFilter& operator=(DLeftCountingBloomFilter&&) noexcept = default;
  ~DLeftCountingBloomFilter() = default;

  /// InsertResult::counted or InsertResult::full.
  template <Key K>
  [[nodiscard]] InsertResult insert(K&& key) noexcept {
    return insert_digest(hasher_(key));
  }

  /// results[i] = insert(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys, std::span<InsertResult> results);

  /// Inserts every key of a range; returns how many were refused because there was no room.
  template <KeyRange Keys>
  [[nodiscard]] std::uint64_t insert_range(Keys&& keys) {
    return detail::insert_range_with_results(
        hasher_, keys, [this](const auto& window, auto results) { this->insert_batch(window, results); });
  }

  /// Removes all keys. The size and the memory stay.
  void clear() noexcept {
    table_.clear();
    totals_ = {};
  }

  /// Removes one occurrence of the key. Returns RemoveResult::removed, or refused if the key is provably
  /// absent.
  template <Key K>
  [[nodiscard]] RemoveResult remove(K&& key) noexcept {
    return remove_digest(hasher_(key));
  }

  /// results[i] = remove(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results);

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return contains_digest(hasher_(key));
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const;

  /// How often keys with this key's fingerprint are in the multiset; never saturated.
  template <Key K>
  [[nodiscard]] Count count(K&& key) const noexcept {
    return {count_digest(hasher_(key)), false};
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const;

  /// Doubles the number of buckets: one bit of every remainder becomes a bit of its bucket. Returns false if
  /// the remainder has no bit to spare. Throws std::bad_alloc, and then changes nothing.
  [[nodiscard]] bool try_grow() {
    if (!shape().can_double()) return false;
    table_.split_buckets();
    return true;
  }

  /// Reverses a doubling. Returns false and changes nothing if there was none or the keys do not fit. Throws
  /// std::bad_alloc, and then changes nothing.
  [[nodiscard]] bool try_halve() {
    return shape().num_doublings != 0 && detail::try_halve(table_, hasher_.seed_or_key_id());
  }

  /// Makes this the filter of both multisets, as if all keys of the other had been inserted here. It has the
  /// size of the larger filter, or a larger one if it grows by itself. Returns false and changes nothing if
  /// the result does not fit. Throws std::invalid_argument that names the first field that differs, or
  /// std::bad_alloc, and then changes nothing.
  [[nodiscard]] bool merge(const DLeftCountingBloomFilter& other) {
    require_same_hasher("DLeftCountingBloomFilter", hasher_, other.hasher_);
    detail::require_same_fingerprints(shape(), other.shape());
    if (!detail::try_merge(table_, other.table_)) return false;
    detail::add_totals(totals_, other.totals_);
    return true;
  }

  /// Calls visit(fingerprint, count) for every fingerprint of the multiset, in no particular order.
  template <class Visit>
  void for_each_fingerprint(Visit visit) const {
    table_.for_each(visit);
  }

  /// The count of a fingerprint of for_each_fingerprint, of this filter or another one with the same fingerprints.
  std::uint64_t count_fingerprint(std::uint64_t fingerprint) const noexcept {
    return table_.count(images_of_fingerprint(fingerprint).data());
  }

  /// A Bloom filter of the fingerprints, to be sent to others: `snapshot_key(key)` is in it for every key in this
  /// filter. Throws as BloomFilter's constructor does.
  BloomFilter<> snapshot(const BloomShape& shape) const { return detail::snapshot(table_, shape, hasher_); }

  /// The digest to look up in a snapshot for this key.
  template <Key K>
  Hash128 snapshot_key(K&& key) const noexcept {
    return detail::snapshot_key(space_.fingerprint_of(hasher_(key)));
  }

  DLeftStatistics statistics() const {
    return {totals_, table_statistics(shape(), table_.cells(), table_.spills())};
  }

  /// The current shape: num_doublings grows.
  const DLeftShape& shape() const noexcept { return table_.shape(); }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const Totals& totals() const noexcept { return totals_; }
  const detail::DLeftTable<Scheme>& table() const noexcept { return table_; }

  /// Whether both have the same shape and hasher and hold the same: what files of both would hold. Filters of the same
  /// keys in another order may differ, because a fingerprint may be in another of its cells.
  friend bool operator==(const DLeftCountingBloomFilter& a, const DLeftCountingBloomFilter& b) noexcept {
    return a.shape() == b.shape() && a.hasher_ == b.hasher_ && a.totals_ == b.totals_ &&
           a.table_.cells() == b.table_.cells() && a.table_.spills() == b.table_.spills();
  }

 private:
  using Images = std::array<std::uint64_t, max_num_subtables>;

  static const DLeftShape& checked(const DLeftShape& shape) {
    check_shape<Scheme>(shape);
    return shape;
  }

  // With kernels for one key where there are some; defined in detail/dleft/key_operations.hpp.
  InsertResult insert_digest(Hash128 digest) noexcept;
  RemoveResult remove_digest(Hash128 digest) noexcept;
  bool contains_digest(Hash128 digest) const noexcept;
  std::uint64_t count_digest(Hash128 digest) const noexcept;

  // Without kernels. Not inline, so that a caller saves no registers for them.
  [[gnu::noinline]] InsertResult insert_generally(Hash128 digest) noexcept {
    return insert_at(images_of(digest).data());
  }
  [[gnu::noinline]] RemoveResult remove_generally(Hash128 digest) noexcept {
    return remove_at(images_of(digest).data());
  }
  [[gnu::noinline]] std::uint64_t count_generally(Hash128 digest) const noexcept {
    return table_.count(images_of(digest).data());
  }

  std::uint32_t num_subtables() const noexcept { return table_.shape().num_subtables; }
  std::uint32_t max_counter() const noexcept { return (1u << table_.shape().counter_bits) - 1; }
  /// The counter of a cell whose removals are left to the table: at the maximum, the side table may have more.
  std::uint32_t counter_of_spilled() const noexcept {
    return table_.spills().size() == 0 ? no_counter : max_counter();
  }
  static constexpr std::uint32_t no_counter = ~0u;  // above those of cells

  /// What the side table has for the key.
  std::uint64_t spilled_count(Hash128 digest) const noexcept {
    return table_.spills().count(table_.scheme().image(0, space_.fingerprint_of(digest)));
  }

  Images images_of(Hash128 hash) const noexcept { return images_of_fingerprint(space_.fingerprint_of(hash)); }
  Images images_of_fingerprint(std::uint64_t fingerprint) const noexcept {
    Images images;
    table_.scheme().all_images(fingerprint, num_subtables(), images.data());
    return images;
  }

  InsertResult insert_at(const std::uint64_t* images) noexcept {
    DLeftInserted how = table_.insert(images);
    while (how == DLeftInserted::no_cell && detail::grow_by_itself(table_)) how = table_.insert(images);
    if (!is_in(how)) {
      ++totals_.num_full;
      return InsertResult::full;
    }
    totals_.num_rescues += how == DLeftInserted::by_moves;
    ++totals_.num_insertions;
    return InsertResult::counted;
  }

  static RemoveResult result_of_remove(bool removed) noexcept {
    return removed ? RemoveResult::removed : RemoveResult::refused;
  }
  RemoveResult remove_at(const std::uint64_t* images) noexcept {
    const bool removed = table_.remove(images);
    ++(removed ? totals_.num_removes : totals_.num_refused_removes);
    return result_of_remove(removed);
  }

  using Spots = const detail::DLeftSpot*;

  detail::DLeftCells cells(std::uint32_t max_counter) const noexcept {
    const DLeftShape& now = table_.shape();
    return {now.current_remainder_bits(), now.remainder_bits, max_counter};
  }

  /// Calls one(index, images) for every key in order. If there are kernels, it instead calls by_kernel(first
  /// index, spots, number of keys) for runs of keys, which returns how many it has processed, and one(...)
  /// for the key after those.
  template <detail::Access access, KeyBatch Keys, class One, class ByKernel>
  void for_each_key(const Keys& keys, One one, ByKernel by_kernel) const;

  KeyHasher hasher_;
  FingerprintSpace space_;
  detail::DLeftTable<Scheme> table_;
  const detail::DLeftKernels* kernels_;
  Totals totals_;
};

}  // namespace tally

#include "tally/detail/dleft/batch_operations.hpp"
#include "tally/detail/dleft/key_operations.hpp"

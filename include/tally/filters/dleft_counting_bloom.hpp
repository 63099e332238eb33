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

/// A multiset of keys with insert, remove and count in half the space of a counting Bloom filter: each
/// key's fingerprint and count in one cell of a d-left hash table.
///
/// Law: `count` is never below the number of times the key is in the multiset, and above it by the
/// keys of the same fingerprint only, as long as only keys in it are removed; a remove of a key whose
/// fingerprint is absent is refused. Counts have no maximum. An insertion that finds no room says
/// 'full' and changes nothing; nothing is ever lost.
/// Thread rule: reads (const functions) may run together, a write runs alone.
/// Source: Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006. Moves, doubling, merging and the side table for counts that
/// a cell cannot hold follow from the permutations; docs/dleft.md tells how.
template <BucketScheme Scheme = RotationBuckets>
class DLeftCountingBloomFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape out of range or that the scheme cannot use,
  /// std::bad_alloc where there is not enough memory.
  DLeftCountingBloomFilter(const DLeftShape& shape, const KeyHasher& hasher)
      : hasher_(hasher),
        space_(shape.fingerprint_space()),
        table_(checked(shape), hasher.seed_or_key_id()),
        kernels_(detail::dleft_kernels<Scheme>(shape)) {}

  /// Calls so far, whatever their keys.
  using Totals = DLeftTotals;

  /// Takes over what a file held; see DLeftTable. Throws std::invalid_argument for what does not fit the shape.
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
  template <class Key>
  [[nodiscard]] InsertResult insert(const Key& key) noexcept {
    return insert_at(places_of(hasher_(key)).data());
  }

  /// results[i] = insert(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys, std::span<InsertResult> results) noexcept;

  /// Removes one occurrence of the key: RemoveResult::removed, or refused where it is provably absent.
  template <class Key>
  [[nodiscard]] RemoveResult remove(const Key& key) noexcept {
    return remove_at(places_of(hasher_(key)).data());
  }

  /// results[i] = remove(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results) noexcept;

  template <class Key>
  bool may_contain(const Key& key) const noexcept {
    return table_.count(places_of(hasher_(key)).data()) != 0;
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const noexcept;

  /// How often keys of this one's fingerprint are in the multiset; never saturated.
  template <class Key>
  Count count(const Key& key) const noexcept {
    return {table_.count(places_of(hasher_(key)).data()), false};
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const noexcept;

  /// Doubles the number of buckets: one bit of every remainder becomes one of its bucket. False if the
  /// remainder has no bit to spare. Throws std::bad_alloc, and nothing has changed then.
  bool try_grow() {
    if (!shape().can_double()) return false;
    table_.split_buckets();
    return true;
  }

  /// Takes a doubling back. False, and nothing has changed, if there was none or the keys do not fit.
  /// Throws std::bad_alloc, and nothing has changed then.
  bool try_halve() {
    return shape().num_doublings != 0 && detail::try_halve(table_, hasher_.seed_or_key_id());
  }

  /// Makes this the filter of both multisets, of the size of the larger, or larger where it grows by itself: the
  /// same as if all keys of the other had been inserted here. False, and nothing has changed, if they do not fit. Throws
  /// std::invalid_argument that names the first field that differs, std::bad_alloc; nothing has changed then.
  bool merge(const DLeftCountingBloomFilter& other) {
    require_same_hasher("DLeftCountingBloomFilter", hasher_, other.hasher_);
    detail::require_same_fingerprints(shape(), other.shape());
    if (!detail::try_merge(table_, other.table_)) return false;
    detail::add_totals(totals_, other.totals_);
    return true;
  }

  /// visit(fingerprint, count) for every fingerprint of the multiset, in no particular order.
  template <class Visit>
  void for_each_fingerprint(Visit visit) const {
    table_.for_each(visit);
  }

  /// A Bloom filter of the fingerprints, to be sent to others: `snapshot_key(key)` is in it for every key in this
  /// filter. Throws as BloomFilter's constructor does.
  BloomFilter<> snapshot(const BloomShape& shape) const { return detail::snapshot(table_, shape, hasher_); }

  /// What a snapshot is asked for in place of the key.
  template <class Key>
  Hash128 snapshot_key(const Key& key) const noexcept {
    return detail::snapshot_key(space_.fingerprint_of(hasher_(key)));
  }

  DLeftStatistics statistics() const {
    return {totals_, table_statistics(shape(), table_.cells(), table_.spills())};
  }

  /// As it is now: num_doublings grows.
  const DLeftShape& shape() const noexcept { return table_.shape(); }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const Totals& totals() const noexcept { return totals_; }
  const detail::DLeftTable<Scheme>& table() const noexcept { return table_; }

 private:
  using Places = std::array<std::uint64_t, max_num_subtables>;

  static const DLeftShape& checked(const DLeftShape& shape) {
    check_shape(shape);
    detail::require_usable(Scheme::name, shape, Scheme::can_use(shape.fingerprint_space()));
    return shape;
  }

  std::uint32_t num_subtables() const noexcept { return table_.shape().num_subtables; }
  std::uint32_t max_counter() const noexcept { return (1u << table_.shape().counter_bits) - 1; }

  Places places_of(Hash128 hash) const noexcept {
    Places places;
    table_.scheme().place_all(space_.fingerprint_of(hash), num_subtables(), places.data());
    return places;
  }

  InsertResult insert_at(const std::uint64_t* places) noexcept {
    DLeftInserted how = table_.insert(places);
    while (how == DLeftInserted::no_cell && detail::grow_by_itself(table_)) how = table_.insert(places);
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
  RemoveResult remove_at(const std::uint64_t* places) noexcept {
    const bool removed = table_.remove(places);
    ++(removed ? totals_.num_removes : totals_.num_refused_removes);
    return result_of_remove(removed);
  }

  using Spots = const detail::DLeftSpot*;

  detail::DLeftCells cells(std::uint32_t max_counter) const noexcept {
    const DLeftShape& now = table_.shape();
    return {now.current_remainder_bits(), now.remainder_bits, max_counter};
  }

  /// one(index, places) for every key in order; but where there are kernels, by_kernel(first index, spots, number of
  /// keys) for runs of them, which returns how many it has done, and one(...) for the key after those.
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

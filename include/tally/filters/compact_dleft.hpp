#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "tally/detail/compact/table.hpp"
#include "tally/detail/dleft/snapshot.hpp"
#include "tally/filters/compact_dleft_statistics.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/compact_dleft.hpp"

namespace tally {

/// A multiset of keys with insert, remove and count, smaller than a DLeftCountingBloomFilter: 0.2% false positives take
/// 12.6 bits per key. Each key's fingerprint is in one of two 64-byte lines, once for each time that the key is in the
/// multiset, up to three; a small side table counts the rest.
///
/// Guarantee: `count` is never below the number of times the key is in the multiset, and only keys with the
/// same fingerprint can raise it above that, as long as only keys in it are removed. Removing a key whose
/// fingerprint is absent is refused. Counts have no maximum. An insertion that finds no room returns `full`
/// and changes nothing; nothing is ever lost.
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// Source: two permutations and moves as in Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006; a line is
/// organized like that of Pandey, Conway, Durie, Bender, Farach-Colton, Johnson 2021 (vector quotient filters).
class CompactDLeftFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range, and std::bad_alloc if there is not enough
  /// memory.
  CompactDLeftFilter(const CompactDLeftShape& shape, const KeyHasher& hasher)
      : hasher_(hasher), table_(checked(shape), hasher.seed_or_key_id()) {}

  /// The number of calls so far, whatever their keys.
  using Totals = DLeftTotals;

  /// Takes over the contents of a file: the words of the lines, the side table, and the number of distinct fingerprints
  /// in the lines. Throws std::invalid_argument if they do not fit the shape.
  CompactDLeftFilter(const CompactDLeftShape& shape, const KeyHasher& hasher, const Totals& totals,
                     detail::AlignedWords lines, SpillTable spills, std::uint64_t num_fingerprints)
      : hasher_(hasher),
        table_(checked(shape), hasher.seed_or_key_id(), std::move(lines), std::move(spills),
               num_fingerprints),
        totals_(totals) {}

  /// InsertResult::counted or InsertResult::full.
  template <Key K>
  [[nodiscard]] InsertResult insert(K&& key) noexcept {
    return result_of_insert(table_.insert(hasher_(key)));
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

  /// Removes one occurrence of the key. Returns RemoveResult::removed, or refused if the key is provably
  /// absent.
  template <Key K>
  [[nodiscard]] RemoveResult remove(K&& key) noexcept {
    return result_of_remove(table_.remove(hasher_(key)));
  }

  /// results[i] = remove(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results);

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return table_.contains(hasher_(key));
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const;

  /// How often keys with this key's fingerprint are in the multiset; never saturated.
  template <Key K>
  [[nodiscard]] Count count(K&& key) const noexcept {
    return {table_.count(table_.spot_of(hasher_(key))), false};
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const;

  /// Removes all keys. The size and the memory stay.
  void clear() noexcept {
    table_.clear();
    totals_ = {};
  }

  /// Makes this the filter of both multisets, as if all keys of the other had been inserted here. Returns false and
  /// changes nothing if the result does not fit. Throws std::invalid_argument that names the first field that differs,
  /// or std::bad_alloc, and then changes nothing.
  [[nodiscard]] bool merge(const CompactDLeftFilter& other) {
    require_same_hasher("CompactDLeftFilter", hasher_, other.hasher_);
    detail::require_same_fingerprints(shape(), other.shape());
    detail::CompactTable sum = table_;
    if (!sum.insert_all(other.table_)) return false;
    table_ = std::move(sum);
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
    return table_.count(table_.finder().spot_of_fingerprint(fingerprint));
  }

  /// A Bloom filter of the fingerprints, to be sent to others: `snapshot_key(key)` is in it for every key in this
  /// filter. Throws as BloomFilter's constructor does.
  BloomFilter<> snapshot(const BloomShape& shape) const { return detail::snapshot(table_, shape, hasher_); }

  /// The digest to look up in a snapshot for this key.
  template <Key K>
  Hash128 snapshot_key(K&& key) const noexcept {
    return detail::snapshot_key(table_.finder().fingerprint_of(table_.spot_of(hasher_(key))));
  }

  CompactDLeftStatistics statistics() const { return compact_statistics(table_, totals_); }

  const CompactDLeftShape& shape() const noexcept { return table_.shape(); }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const Totals& totals() const noexcept { return totals_; }
  const detail::CompactTable& table() const noexcept { return table_; }

  /// Whether both have the same shape and hasher and hold the same. Filters of the same keys in another order may
  /// differ, because a fingerprint may be in its other line.
  friend bool operator==(const CompactDLeftFilter& a, const CompactDLeftFilter& b) noexcept {
    return a.hasher_ == b.hasher_ && a.totals_ == b.totals_ && a.table_ == b.table_;
  }

 private:
  static const CompactDLeftShape& checked(const CompactDLeftShape& shape) {
    check_shape(shape);
    return shape;
  }

  InsertResult result_of_insert(DLeftInserted how) noexcept {
    if (!is_in(how)) {
      ++totals_.num_full;
      return InsertResult::full;
    }
    totals_.num_rescues += how == DLeftInserted::by_moves;
    ++totals_.num_insertions;
    return InsertResult::counted;
  }
  RemoveResult result_of_remove(bool removed) noexcept {
    ++(removed ? totals_.num_removes : totals_.num_refused_removes);
    return removed ? RemoveResult::removed : RemoveResult::refused;
  }

  KeyHasher hasher_;
  detail::CompactTable table_;
  Totals totals_;
};

}  // namespace tally

#include "tally/detail/compact/batch_operations.hpp"

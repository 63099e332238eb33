#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "tally/detail/dleft/moves.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/hashing/bucket_scheme.hpp"
#include "tally/shapes/dleft.hpp"
#include "tally/storage/cell_table.hpp"

namespace tally::detail {

/// A multiset of fingerprints in a d-left hash table: what DLeftCountingBloomFilter is made of.
///
/// Law: every fingerprint of the multiset has exactly one cell, in the bucket of one of its places,
/// with its count, at most 2^counter_bits, in it; what it has above that is in the side table, and it
/// has something there only while the cell's counter is at its maximum.
///
/// A cell is its remainder in the low bits and its count less one above them; an empty one is 0.
/// Operations take the `places` of a fingerprint (BucketScheme::place_all), which stay right when
/// buckets are split; the side table knows it by its place in the first subtable.
template <BucketScheme Scheme>
class DLeftTable {
 public:
  /// Empty. The shape passes check_shape, and the scheme can use it. Throws std::bad_alloc where there
  /// is not enough memory.
  DLeftTable(const DLeftShape& shape, std::uint64_t seed)
      : DLeftTable(shape, seed,
                   CellTable(shape.current_buckets_per_subtable() * shape.num_subtables,
                             shape.cells_per_bucket, shape.cell_bits()),
                   SpillTable(shape.spill_capacity)) {}

  /// Takes over what a file held, with the number of cells in use, which is not counted here. Whatever the
  /// words are, nothing worse than wrong answers comes of it.
  DLeftTable(const DLeftShape& shape, std::uint64_t seed, CellTable cells, SpillTable spills,
             std::uint64_t num_fingerprints = 0)
      : shape_(shape),
        scheme_(shape.fingerprint_space(), seed),
        buckets_per_subtable_(shape.current_buckets_per_subtable()),
        remainder_bits_(shape.current_remainder_bits()),
        cells_(std::move(cells)),
        spills_(std::move(spills)),
        num_fingerprints_(num_fingerprints) {}

  DLeftTable(const DLeftTable&) = default;
  DLeftTable(DLeftTable&&) noexcept = default;
  DLeftTable& operator=(const DLeftTable& other) { return *this = DLeftTable(other); }
  DLeftTable& operator=(DLeftTable&&) noexcept = default;
  ~DLeftTable() = default;

  /// `times` (at least 1) more of the fingerprint. Nothing has changed if it found no cell, or no room in
  /// the side table for what the cell cannot count.
  DLeftInserted insert(const std::uint64_t* places, std::uint64_t times = 1) noexcept {
    const std::uint64_t max = max_count();
    if (const std::optional<CellAddress> at = find(places)) {
      const std::uint64_t now = count_at(*at);
      const std::uint64_t in_cell = std::min(now + times, max);
      const std::uint64_t beyond = now + times - in_cell;
      if (beyond != 0 && !spills_.add(places[0], beyond)) return DLeftInserted::no_spill;
      put(*at, places[at->subtable], in_cell);
      return DLeftInserted::plainly;
    }
    const std::uint64_t in_cell = std::min(times, max);
    if (times > max && !spills_.can_add(places[0], times - max)) return DLeftInserted::no_spill;
    DLeftInserted how = DLeftInserted::plainly;
    std::optional<CellAddress> room = least_loaded(places);
    if (!room) {
      how = DLeftInserted::by_moves;
      room = make_room(*this, places);
      if (!room) return DLeftInserted::no_cell;
    }
    put(*room, places[room->subtable], in_cell);
    if (times > max) (void)spills_.add(places[0], times - max);
    ++num_fingerprints_;
    return how;
  }

  /// One less; false, and nothing has changed, if there is none.
  bool remove(const std::uint64_t* places) noexcept {
    const std::optional<CellAddress> at = find(places);
    if (!at) return false;
    const std::uint64_t now = count_at(*at);
    if (now == max_count() && spills_.take_one(places[0])) return true;
    if (now > 1) {
      put(*at, places[at->subtable], now - 1);
    } else {
      cells_.set(at->bucket, at->index, 0);
      --num_fingerprints_;
    }
    return true;
  }

  std::uint64_t count(const std::uint64_t* places) const noexcept {
    const std::optional<CellAddress> at = find(places);
    if (!at) return 0;
    const std::uint64_t now = count_at(*at);
    return now < max_count() ? now : now + spills_.count(places[0]);
  }

  /// visit(fingerprint, count) for every fingerprint of the multiset.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t bucket = 0; bucket < cells_.num_buckets(); ++bucket) {
      const auto subtable = static_cast<std::uint32_t>(bucket / buckets_per_subtable_);
      for (std::uint32_t index = 0; index < shape_.cells_per_bucket; ++index) {
        if (cells_.get(bucket, index) == 0) continue;
        const CellAddress at{subtable, bucket, index};
        const std::uint64_t fingerprint = fingerprint_at(at);
        const std::uint64_t now = count_at(at);
        visit(fingerprint, now < max_count() ? now : now + spills_.count(scheme_.place(0, fingerprint)));
      }
    }
  }

  /// Makes every bucket two, by the highest bit of its remainders. There must be one left to spare.
  /// Throws std::bad_alloc, and nothing has changed then.
  void split_buckets() {
    cells_ = tally::split_buckets(cells_, 1u << (remainder_bits_ - 1));
    ++shape_.num_doublings;
    buckets_per_subtable_ *= 2;
    --remainder_bits_;
  }

  /// Whether it may double because an insertion found no cell. Where a table that is all but empty has no room,
  /// something is odd and doubling no cure.
  bool may_grow_by_itself() const noexcept {
    return shape_.grows && shape_.can_double() && num_fingerprints_ >= shape_.num_cells() / 8;
  }

  const DLeftShape& shape() const noexcept { return shape_; }
  const Scheme& scheme() const noexcept { return scheme_; }
  const CellTable& cells() const noexcept { return cells_; }
  CellTable& cells() noexcept { return cells_; }
  const SpillTable& spills() const noexcept { return spills_; }
  std::uint64_t num_fingerprints() const noexcept { return num_fingerprints_; }
  void add_fingerprints(std::uint64_t count) noexcept { num_fingerprints_ += count; }

  /// The number of the place's bucket among those of all subtables.
  std::uint64_t bucket_of(std::uint32_t subtable, std::uint64_t place) const noexcept {
    return subtable * buckets_per_subtable_ + (place >> remainder_bits_);
  }
  std::uint32_t load(std::uint64_t bucket) const noexcept {
    return shape_.cells_per_bucket -
           static_cast<std::uint32_t>(std::popcount(cells_.cells_equal(bucket, ~0u, 0)));
  }
  std::optional<CellAddress> room_in(std::uint32_t subtable, std::uint64_t bucket) const noexcept {
    const std::uint64_t empty = cells_.cells_equal(bucket, ~0u, 0);
    if (empty == 0) return std::nullopt;
    return CellAddress{subtable, bucket, static_cast<std::uint32_t>(std::countr_zero(empty))};
  }
  /// The fingerprint whose cell this is.
  std::uint64_t fingerprint_at(const CellAddress& at) const noexcept {
    const std::uint64_t bucket = at.bucket - at.subtable * buckets_per_subtable_;
    const std::uint64_t remainder = remainder_of(cells_.get(at.bucket, at.index));
    return scheme_.fingerprint(at.subtable, bucket << remainder_bits_ | remainder);
  }
  /// Moves a fingerprint's cell to an empty one in the bucket of `place`, another of its places.
  void move(const CellAddress& from, const CellAddress& to, std::uint64_t place) noexcept {
    put(to, place, count_at(from));
    cells_.set(from.bucket, from.index, 0);
  }

 private:
  std::uint64_t max_count() const noexcept { return std::uint64_t{1} << shape_.counter_bits; }
  std::uint32_t remainder_of(std::uint64_t place) const noexcept {
    return static_cast<std::uint32_t>(place & ((std::uint64_t{1} << remainder_bits_) - 1));
  }
  std::uint64_t count_at(const CellAddress& at) const noexcept {
    return (std::uint64_t{cells_.get(at.bucket, at.index)} >> shape_.remainder_bits) + 1;
  }
  void put(const CellAddress& at, std::uint64_t place, std::uint64_t count) noexcept {
    const std::uint64_t cell = remainder_of(place) | (count - 1) << shape_.remainder_bits;
    cells_.set(at.bucket, at.index, static_cast<std::uint32_t>(cell));
  }

  std::optional<CellAddress> find(const std::uint64_t* places) const noexcept {
    for (std::uint32_t i = 0; i < shape_.num_subtables; ++i) {
      const std::uint64_t bucket = bucket_of(i, places[i]);
      const std::uint64_t found =
          cells_.cells_equal(bucket, remainder_of(~std::uint64_t{0}), remainder_of(places[i]));
      if (found != 0) return CellAddress{i, bucket, static_cast<std::uint32_t>(std::countr_zero(found))};
    }
    return std::nullopt;
  }

  /// An empty cell in the least loaded bucket, of equal ones the leftmost.
  std::optional<CellAddress> least_loaded(const std::uint64_t* places) const noexcept {
    std::optional<CellAddress> best;
    int most_empty = 0;
    for (std::uint32_t i = 0; i < shape_.num_subtables; ++i) {
      const std::uint64_t bucket = bucket_of(i, places[i]);
      const std::uint64_t empty = cells_.cells_equal(bucket, ~0u, 0);
      if (std::popcount(empty) <= most_empty) continue;
      most_empty = std::popcount(empty);
      best = CellAddress{i, bucket, static_cast<std::uint32_t>(std::countr_zero(empty))};
    }
    return best;
  }

  DLeftShape shape_;
  Scheme scheme_;
  std::uint64_t buckets_per_subtable_;
  std::uint32_t remainder_bits_;  // as it is now
  CellTable cells_;
  SpillTable spills_;
  std::uint64_t num_fingerprints_;
};

}  // namespace tally::detail

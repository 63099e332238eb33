#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "tally/detail/dleft/moves.hpp"
#include "tally/detail/dleft/spots.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/hashing/bucket_scheme.hpp"
#include "tally/shapes/dleft.hpp"
#include "tally/storage/cell_table.hpp"

namespace tally::detail {

/// A multiset of fingerprints in a d-left hash table: the core of DLeftCountingBloomFilter.
///
/// Invariant: every fingerprint of the multiset has exactly one cell, in one of its buckets. The cell holds
/// its count up to 2^counter_bits. The rest of a higher count is in the side table. A fingerprint has an
/// entry there only while the counter of its cell is at its maximum.
///
/// A cell holds the remainder in its low bits and the count minus one above them; an empty cell is 0.
/// Operations take the `images` of a fingerprint (BucketScheme::all_images), which stay valid when buckets are
/// split. The side table identifies a fingerprint by its value in the first subtable.
template <BucketScheme Scheme>
class DLeftTable {
 public:
  /// Empty. The shape must pass check_shape, and the scheme must be able to use it. Throws std::bad_alloc if
  /// there is not enough memory.
  DLeftTable(const DLeftShape& shape, std::uint64_t seed)
      : DLeftTable(shape, seed,
                   CellTable(shape.current_buckets_per_subtable() * shape.num_subtables,
                             shape.cells_per_bucket, shape.cell_bits()),
                   SpillTable(shape.spill_capacity)) {}

  /// Takes over the contents of a file, with the number of cells in use, which is not checked here. Any words
  /// are safe: at worst the answers are wrong.
  DLeftTable(const DLeftShape& shape, std::uint64_t seed, CellTable cells, SpillTable spills,
             std::uint64_t num_fingerprints = 0)
      : shape_(shape),
        finder_(shape, Scheme(shape.fingerprint_space(), seed)),
        cells_(std::move(cells)),
        spills_(std::move(spills)),
        num_fingerprints_(num_fingerprints) {}

  DLeftTable(const DLeftTable&) = default;
  DLeftTable(DLeftTable&&) noexcept = default;
  DLeftTable& operator=(const DLeftTable& other) { return *this = DLeftTable(other); }
  DLeftTable& operator=(DLeftTable&&) noexcept = default;
  ~DLeftTable() = default;

  /// Inserts the fingerprint `times` (at least 1) more times. Changes nothing if it finds no cell, or if the
  /// side table has no room for what the cell cannot hold.
  DLeftInserted insert(const std::uint64_t* images, std::uint64_t times = 1) noexcept {
    const std::uint64_t max = max_count();
    if (const std::optional<CellAddress> at = find(images)) {
      const std::uint64_t now = count_at(*at);
      const std::uint64_t in_cell = std::min(now + times, max);
      const std::uint64_t beyond = now + times - in_cell;
      if (beyond != 0 && !spills_.add(images[0], beyond)) return DLeftInserted::no_spill;
      put(*at, images[at->subtable], in_cell);
      return DLeftInserted::plainly;
    }
    const std::uint64_t in_cell = std::min(times, max);
    if (times > max && !spills_.can_add(images[0], times - max)) return DLeftInserted::no_spill;
    DLeftInserted how = DLeftInserted::plainly;
    std::optional<CellAddress> room = least_loaded(images);
    if (!room) {
      how = DLeftInserted::by_moves;
      room = make_room(*this, images);
      if (!room) return DLeftInserted::no_cell;
    }
    put(*room, images[room->subtable], in_cell);
    if (times > max) (void)spills_.add(images[0], times - max);
    ++num_fingerprints_;
    return how;
  }

  /// Removes one; returns false and changes nothing if there is none.
  bool remove(const std::uint64_t* images) noexcept {
    const std::optional<CellAddress> at = find(images);
    if (!at) return false;
    const std::uint64_t now = count_at(*at);
    if (now == max_count() && spills_.take_one(images[0])) return true;
    if (now > 1) {
      put(*at, images[at->subtable], now - 1);
    } else {
      cells_.set(at->bucket, at->index, 0);
      --num_fingerprints_;
    }
    return true;
  }

  std::uint64_t count(const std::uint64_t* images) const noexcept {
    const std::optional<CellAddress> at = find(images);
    if (!at) return 0;
    const std::uint64_t now = count_at(*at);
    return now < max_count() ? now : now + spills_.count(images[0]);
  }

  /// Calls visit(fingerprint, count) for every fingerprint of the multiset.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t bucket = 0; bucket < cells_.num_buckets(); ++bucket) {
      const auto subtable = static_cast<std::uint32_t>(bucket / finder_.buckets_per_subtable());
      for (std::uint32_t index = 0; index < shape_.cells_per_bucket; ++index) {
        if (cells_.get(bucket, index) == 0) continue;
        const CellAddress at{subtable, bucket, index};
        const std::uint64_t fingerprint = fingerprint_at(at);
        const std::uint64_t now = count_at(at);
        visit(fingerprint, now < max_count() ? now : now + spills_.count(scheme().image(0, fingerprint)));
      }
    }
  }

  /// Removes everything. The size stays.
  void clear() noexcept {
    cells_.clear();
    spills_.clear();
    num_fingerprints_ = 0;
  }

  /// Splits every bucket into two by the highest bit of its remainders, which must have a bit to spare.
  /// Throws std::bad_alloc, and then changes nothing.
  void split_buckets() {
    cells_ = tally::split_buckets(cells_, 1u << (finder_.remainder_bits() - 1));
    ++shape_.num_doublings;
    finder_ = DLeftSpotFinder<Scheme>(shape_, scheme());
  }

  /// Whether the table may double because an insertion found no cell. If an almost empty table has no room,
  /// something is wrong and doubling does not help.
  bool may_grow_by_itself() const noexcept {
    return shape_.grows && shape_.can_double() && num_fingerprints_ >= shape_.num_cells() / 8;
  }

  const DLeftShape& shape() const noexcept { return shape_; }
  const Scheme& scheme() const noexcept { return finder_.scheme(); }
  const DLeftSpotFinder<Scheme>& finder() const noexcept { return finder_; }
  const CellTable& cells() const noexcept { return cells_; }
  CellTable& cells() noexcept { return cells_; }
  const SpillTable& spills() const noexcept { return spills_; }
  std::uint64_t num_fingerprints() const noexcept { return num_fingerprints_; }
  void add_fingerprints(std::uint64_t count) noexcept { num_fingerprints_ += count; }

  /// The index of the bucket of `image` among the buckets of all subtables.
  std::uint64_t bucket_of(std::uint32_t subtable, std::uint64_t image) const noexcept {
    return subtable * finder_.buckets_per_subtable() + (image >> finder_.remainder_bits());
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
    const std::uint64_t bucket = at.bucket - at.subtable * finder_.buckets_per_subtable();
    const std::uint64_t remainder = remainder_of(cells_.get(at.bucket, at.index));
    return scheme().fingerprint(at.subtable, bucket << finder_.remainder_bits() | remainder);
  }
  /// Moves a fingerprint's cell to an empty cell in another of its buckets, the bucket of `image`.
  void move(const CellAddress& from, const CellAddress& to, std::uint64_t image) noexcept {
    put(to, image, count_at(from));
    cells_.set(from.bucket, from.index, 0);
  }

 private:
  std::uint64_t max_count() const noexcept { return std::uint64_t{1} << shape_.counter_bits; }
  std::uint32_t remainder_of(std::uint64_t image) const noexcept {
    return static_cast<std::uint32_t>(image & finder_.remainder_mask());
  }
  std::uint64_t count_at(const CellAddress& at) const noexcept {
    return (std::uint64_t{cells_.get(at.bucket, at.index)} >> shape_.remainder_bits) + 1;
  }
  void put(const CellAddress& at, std::uint64_t image, std::uint64_t count) noexcept {
    const std::uint64_t cell = remainder_of(image) | (count - 1) << shape_.remainder_bits;
    cells_.set(at.bucket, at.index, static_cast<std::uint32_t>(cell));
  }

  std::optional<CellAddress> find(const std::uint64_t* images) const noexcept {
    for (std::uint32_t i = 0; i < shape_.num_subtables; ++i) {
      const std::uint64_t bucket = bucket_of(i, images[i]);
      const std::uint64_t found =
          cells_.cells_equal(bucket, remainder_of(~std::uint64_t{0}), remainder_of(images[i]));
      if (found != 0) return CellAddress{i, bucket, static_cast<std::uint32_t>(std::countr_zero(found))};
    }
    return std::nullopt;
  }

  /// An empty cell in the least loaded bucket; ties go left.
  std::optional<CellAddress> least_loaded(const std::uint64_t* images) const noexcept {
    std::optional<CellAddress> best;
    int most_empty = 0;
    for (std::uint32_t i = 0; i < shape_.num_subtables; ++i) {
      const std::uint64_t bucket = bucket_of(i, images[i]);
      const std::uint64_t empty = cells_.cells_equal(bucket, ~0u, 0);
      if (std::popcount(empty) <= most_empty) continue;
      most_empty = std::popcount(empty);
      best = CellAddress{i, bucket, static_cast<std::uint32_t>(std::countr_zero(empty))};
    }
    return best;
  }

  DLeftShape shape_;
  DLeftSpotFinder<Scheme> finder_;
  CellTable cells_;
  SpillTable spills_;
  std::uint64_t num_fingerprints_;
};

}  // namespace tally::detail

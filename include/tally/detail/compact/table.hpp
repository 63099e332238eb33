#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/compact/kernels.hpp"
#include "tally/detail/compact/line_cells.hpp"
#include "tally/detail/compact/moves.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/shapes/compact_dleft.hpp"

namespace tally::detail {

/// A multiset of fingerprints in lines: the core of CompactDLeftFilter.
///
/// Invariant: all cells of a fingerprint are in one of its two lines, 1 to max_compact_copies of them if it is in the
/// multiset, else none. Its count is the number of its cells and what the side table has for it. A fingerprint has an
/// entry there only while it has max_compact_copies cells: a removal takes from the side table first. If its line is
/// full before, an insertion moves another fingerprint away.
class CompactTable {
 public:
  /// Empty. The shape must pass check_shape. Throws std::bad_alloc if there is not enough memory.
  CompactTable(const CompactDLeftShape& shape, std::uint64_t seed)
      : shape_(shape),
        kernels_(&compact_kernels(shape)),
        finder_(shape.num_lines_per_subtable, shape.remainder_bits, seed),
        words_(words_per_line * shape.num_lines()),
        spills_(shape.spill_capacity) {
    finder_.set_lines(words_.data());
  }

  /// Takes over the contents of a file. Any words are safe: at worst the counts are wrong.
  CompactTable(const CompactDLeftShape& shape, std::uint64_t seed, AlignedWords lines, SpillTable spills,
               std::uint64_t num_fingerprints)
      : shape_(shape),
        kernels_(&compact_kernels(shape)),
        finder_(shape.num_lines_per_subtable, shape.remainder_bits, seed),
        words_(std::move(lines)),
        spills_(std::move(spills)),
        num_fingerprints_(num_fingerprints) {
    require_contents_of(shape, words_.size(), spills_.capacity());
    finder_.set_lines(words_.data());
  }

  CompactTable(const CompactTable& other)
      : shape_(other.shape_),
        kernels_(other.kernels_),
        finder_(other.finder_),
        words_(other.words_),
        spills_(other.spills_),
        num_fingerprints_(other.num_fingerprints_) {
    finder_.set_lines(words_.data());
  }
  CompactTable(CompactTable&&) noexcept = default;
  CompactTable& operator=(const CompactTable& other) { return *this = CompactTable(other); }
  CompactTable& operator=(CompactTable&&) noexcept = default;
  ~CompactTable() = default;

  bool contains(Hash128 hash) const noexcept { return kernels_->contains(finder_, hash); }

  std::uint64_t count(const CompactSpot& spot) const noexcept { return total(cells_in_use(spot), spot); }
  /// The count of a fingerprint that has this number of cells.
  std::uint64_t total(std::uint32_t num_cells, const CompactSpot& spot) const noexcept {
    return num_cells < max_compact_copies ? num_cells
                                          : num_cells + spills_.count(finder_.fingerprint_of(spot));
  }

  DLeftInserted insert(Hash128 hash) noexcept {
    const CompactInserted how = kernels_->insert(finder_, hash);
    if (how == CompactInserted::no_room) [[unlikely]]
      return insert_without_room(spot_of(hash));
    num_fingerprints_ += how == CompactInserted::first;
    return DLeftInserted::plainly;
  }

  /// For what finds no room in its lines as they are.
  DLeftInserted insert_without_room(const CompactSpot& spot) noexcept {
    const std::uint32_t num_cells = cells_in_use(spot);
    if (num_cells == max_compact_copies) {
      return spills_.add(finder_.fingerprint_of(spot), 1) ? DLeftInserted::plainly : DLeftInserted::no_spill;
    }
    if (shape_.moves == DLeftMoves::none || !make_room(spot, num_cells != 0)) return DLeftInserted::no_cell;
    (void)insert_at(spot);
    return DLeftInserted::by_moves;
  }

  /// Removes one; returns false and changes nothing if there is none.
  bool remove(Hash128 hash) noexcept {
    const CompactRemoved how = kernels_->remove(finder_, hash, spills_.size() != 0);
    if (how == CompactRemoved::at_max) [[unlikely]]
      return remove_at_max(spot_of(hash));
    num_fingerprints_ -= how == CompactRemoved::last;
    return how != CompactRemoved::absent;
  }
  /// Removes one of a fingerprint that has max_compact_copies cells.
  bool remove_at_max(const CompactSpot& spot) noexcept {
    if (spills_.take_one(finder_.fingerprint_of(spot))) return true;
    RemoveResult result;
    std::uint64_t num_removed = 0;
    std::uint64_t num_gone = 0;
    kernels_->remove_all(&spot, 1, &result, false, num_removed, num_gone);
    num_fingerprints_ -= num_gone;
    return num_removed != 0;
  }

  /// Adds all fingerprints of another table of the same shape and seed. Returns false if one finds no room; this table
  /// must then be discarded.
  bool insert_all(const CompactTable& other) noexcept {
    bool fits = true;
    other.for_each([&](std::uint64_t fingerprint, std::uint64_t count) {
      const CompactSpot spot = finder_.spot_of_fingerprint(fingerprint);
      for (std::uint64_t left = count; fits && left > 0; --left) {
        if (insert_at(spot)) continue;
        if (cells_in_use(spot) == max_compact_copies) {
          fits = spills_.add(fingerprint, left);
          return;
        }
        fits = is_in(insert_without_room(spot));
      }
    });
    return fits;
  }

  /// Calls visit(fingerprint, count) for every fingerprint of the multiset.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t line = 0; line < shape_.num_lines(); ++line) {
      any_fingerprint(line, [&](const CompactLineCells::Cell& cell, std::uint32_t num_cells) {
        const std::uint64_t fingerprint = finder_.fingerprint_at(line, in_line_of(cell));
        visit(fingerprint, num_cells + spills_.count(fingerprint));
        return false;
      });
    }
  }

  /// Removes everything. The size stays.
  void clear() noexcept {
    words_.clear();
    spills_.clear();
    num_fingerprints_ = 0;
  }

  const CompactDLeftShape& shape() const noexcept { return shape_; }
  CompactLayout layout() const noexcept { return CompactLayout(shape_.remainder_bits); }
  const CompactKernels& kernels() const noexcept { return *kernels_; }
  const CompactFinder& finder() const noexcept { return finder_; }
  CompactSpot spot_of(Hash128 hash) const noexcept { return finder_.spot_of(hash, layout()); }
  const AlignedWords& words() const noexcept { return words_; }
  const SpillTable& spills() const noexcept { return spills_; }
  std::uint64_t num_fingerprints() const noexcept { return num_fingerprints_; }
  void add_fingerprints(std::uint64_t count) noexcept { num_fingerprints_ += count; }

  /// For the search for moves; lines are counted through both subtables.
  CompactLineCells cells_of(std::uint64_t line) const noexcept { return {layout(), bytes_of(line)}; }
  template <class Visit>
  bool any_fingerprint(std::uint64_t line, Visit visit) const {
    return CompactLineCells::any_fingerprint(layout(), bytes_of(line), visit);
  }
  std::uint32_t load(std::uint64_t line) const noexcept {
    return CompactLineCells::size_of(layout(), bytes_of(line));
  }
  std::uint64_t other_line(std::uint64_t line, const CompactLineCells::Cell& cell) const noexcept {
    const CompactSpot spot = finder_.spot_of_fingerprint(finder_.fingerprint_at(line, in_line_of(cell)));
    return finder_.line_of(line < shape_.num_lines_per_subtable ? spot.right : spot.left);
  }
  void move(std::uint64_t from, std::uint64_t to, const CompactLineCells::Cell& cell,
            std::uint32_t count) noexcept {
    // Spots whose two lines are the same one.
    const CompactSpot old_spot{bytes_of(from), bytes_of(from), in_line_of(cell)};
    const CompactSpot new_spot{bytes_of(to), bytes_of(to), in_line_of(cell)};
    // Ignored: the multiset stays as it is.
    RemoveResult result;
    std::uint64_t num_changed = 0;
    for (; count > 0; --count) {
      kernels_->insert_all(&new_spot, 1, num_changed);
      kernels_->remove_all(&old_spot, 1, &result, false, num_changed, num_changed);
    }
  }

  friend bool operator==(const CompactTable& a, const CompactTable& b) noexcept {
    return a.shape_ == b.shape_ && a.words_ == b.words_ && a.spills_ == b.spills_;
  }

 private:
  static constexpr std::uint64_t words_per_line = compact_line_bytes / 8;

  std::uint32_t cells_in_use(const CompactSpot& spot) const noexcept {
    std::uint32_t count;
    kernels_->count_all(&spot, 1, &count);
    return count;
  }
  /// Whether its lines had room.
  bool insert_at(const CompactSpot& spot) noexcept {
    return kernels_->insert_all(&spot, 1, num_fingerprints_) != 0;
  }
  bool make_room(const CompactSpot& spot, bool is_held) noexcept {
    const std::uint64_t left = finder_.line_of(spot.left);
    const std::uint64_t right = finder_.line_of(spot.right);
    CompactRoomSearch search(*this);
    if (!is_held) return search.make_room({left, right});
    const CompactLineCells::Cell cell = cell_of(spot);
    return search.make_room({cells_of(left).count(cell) != 0 ? left : right}, cell);
  }
  CompactLineCells::Cell cell_of(const CompactSpot& spot) const noexcept {
    const std::uint64_t remainder = spot.in_line & ((std::uint64_t{1} << shape_.remainder_bits) - 1);
    return {static_cast<std::uint32_t>(spot.in_line >> shape_.remainder_bits),
            static_cast<std::uint32_t>(remainder)};
  }
  std::uint64_t in_line_of(const CompactLineCells::Cell& cell) const noexcept {
    return std::uint64_t{cell.mini_bucket} << shape_.remainder_bits | cell.remainder;
  }
  unsigned char* bytes_of(std::uint64_t line) noexcept {
    return reinterpret_cast<unsigned char*>(words_.data() + words_per_line * line);
  }
  const unsigned char* bytes_of(std::uint64_t line) const noexcept {
    return reinterpret_cast<const unsigned char*>(words_.data() + words_per_line * line);
  }

  CompactDLeftShape shape_;
  const CompactKernels* kernels_;
  CompactFinder finder_;
  AlignedWords words_;
  SpillTable spills_;
  std::uint64_t num_fingerprints_ = 0;
};

}  // namespace tally::detail

#include "tally/detail/dleft/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "tally/detail/prefetch.hpp"

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/dleft/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "detail/inline_for_key.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Cell = std::uint16_t;
constexpr bool is_inlined = TALLY_INLINES_KEYS;

/// A bucket of `num_cells` cells, at the start of a line or of a power-of-two part of a line.
template <std::size_t num_cells>
struct Bucket {
  using Tag = hn::CappedTag<Cell, num_cells>;

  // Without mask registers, a mask of bytes takes fewer instructions than one of cells, and that of a large bucket fills a
  // word.
  static constexpr bool has_byte_masks =
      num_cells == 32 && (HWY_TARGET > HWY_AVX3) && (HWY_TARGET <= HWY_SSSE3);
  static constexpr std::uint32_t bits_per_cell = has_byte_masks ? sizeof(Cell) : 1;

  Cell* cells;

  /// The bits_per_cell bits from j * bits_per_cell on: whether cell j, masked, equals `wanted`.
  HWY_INLINE std::uint64_t equal(Cell mask, Cell wanted) const {
    const Tag tag;
    const auto all_wanted = hn::Set(tag, wanted);
    const auto all_masks = hn::Set(tag, mask);
    std::uint64_t found = 0;
    for (std::size_t j = 0; j < num_cells; j += hn::Lanes(tag)) {
      std::uint64_t bits = 0;
      const auto here = hn::Eq(hn::And(hn::Load(tag, cells + j), all_masks), all_wanted);
      auto* const first_byte = reinterpret_cast<std::uint8_t*>(&bits);
      if constexpr (has_byte_masks) {
        const hn::Repartition<std::uint8_t, Tag> bytes;
        hn::StoreMaskBits(bytes, hn::MaskFromVec(hn::BitCast(bytes, hn::VecFromMask(tag, here))), first_byte);
      } else {
        hn::StoreMaskBits(tag, here, first_byte);
      }
      found |= bits << j * bits_per_cell;
    }
    return found;
  }

  HWY_INLINE std::uint64_t empty() const { return equal(std::numeric_limits<Cell>::max(), 0); }
};

/// The spots of a key that were found long before.
struct SpotsInMemory {
  static constexpr bool are_in_registers = false;
  const DLeftSpot* spots;

  HWY_INLINE const DLeftSpot& operator[](std::uint32_t i) const { return spots[i]; }
  HWY_INLINE DLeftSpot chosen(std::uint32_t i) const { return spots[i]; }
};

/// The spots of a key that were found just now: reading one of them by its index would wait for all of them to be
/// written.
template <std::uint32_t num_subtables>
struct SpotsInRegisters {
  static constexpr bool are_in_registers = true;
  std::array<DLeftSpot, num_subtables> spots;

  HWY_INLINE const DLeftSpot& operator[](std::uint32_t i) const { return spots[i]; }
  HWY_INLINE DLeftSpot chosen(std::uint32_t i) const {
    std::uintptr_t cells = 0;
    std::uint64_t remainder = 0;
    for (std::uint32_t j = 0; j < num_subtables; ++j) {
      const std::uint64_t all_or_none = 0 - std::uint64_t{i == j};
      cells |= reinterpret_cast<std::uintptr_t>(spots[j].cells) & all_or_none;
      remainder |= spots[j].remainder & all_or_none;
    }
    return {reinterpret_cast<Cell*>(cells), remainder};
  }
};

// Which bucket holds a key, and which has the most room, is unpredictable, so there is no branch for either.
template <std::size_t num_cells, std::uint32_t num_subtables>
struct Kernels {
  static constexpr std::uint32_t bits_per_cell = Bucket<num_cells>::bits_per_cell;
  static constexpr std::uint32_t bits_per_bucket = num_cells * bits_per_cell;

  static HWY_INLINE Cell mask_of(const DLeftCells& table) {
    return static_cast<Cell>((1u << table.remainder_bits) - 1);
  }
  static HWY_INLINE Bucket<num_cells> bucket(const DLeftSpot& spot) { return {spot.cells}; }
  static HWY_INLINE Cell remainder(const DLeftSpot& spot) { return static_cast<Cell>(spot.remainder); }

  /// A cell of one of a key's buckets.
  struct Place {
    Cell* cell;  // null if there is none
    Cell remainder;
    std::uint32_t subtable;
    std::uint32_t index;
  };
  template <class Spots>
  static HWY_INLINE Place place(const Spots& spots, std::uint32_t subtable, std::uint32_t index) {
    const DLeftSpot spot = spots.chosen(subtable);
    return {spot.cells + index, remainder(spot), subtable, index};
  }

  /// Where the key's cell is.
  template <class Spots>
  static HWY_INLINE Place find(Cell mask, const Spots& spots) {
    if constexpr (bits_per_bucket == 64) {
      std::uint32_t subtable = num_subtables - 1;
      std::uint64_t found = bucket(spots[subtable]).equal(mask, remainder(spots[subtable]));
      for (std::uint32_t i = num_subtables - 1; i-- > 0;) {
        const std::uint64_t here = bucket(spots[i]).equal(mask, remainder(spots[i]));
        const std::uint64_t all_or_none = 0 - std::uint64_t{here == 0};
        found = here | (found & all_or_none);
        subtable = i + ((subtable - i) & static_cast<std::uint32_t>(all_or_none));
      }
      if (found == 0) return {};
      return place(spots, subtable, static_cast<std::uint32_t>(std::countr_zero(found)) / bits_per_cell);
    }
    std::array<std::uint64_t, (bits_per_bucket * num_subtables + 63) / 64> found{};
    for (std::uint32_t i = 0; i < num_subtables; ++i) {
      found[i * bits_per_bucket / 64] |= bucket(spots[i]).equal(mask, remainder(spots[i]))
                                         << (i * bits_per_bucket % 64);
    }
    for (std::size_t word = 0; word < found.size(); ++word) {
      if (found[word] == 0) continue;
      const auto at =
          static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(found[word]));
      return place(spots, at / bits_per_bucket, at % bits_per_bucket / bits_per_cell);
    }
    return {};
  }

  /// An empty cell in the least loaded bucket; ties go left.
  template <class Spots>
  static HWY_INLINE Place least_loaded(const Spots& spots) {
    // The number of empty cells, then num_subtables minus the index, then the first empty cell.
    std::uint32_t best = 0;
    for (std::uint32_t i = 0; i < num_subtables; ++i) {
      const std::uint64_t empty = bucket(spots[i]).empty();
      best = std::max(best, static_cast<std::uint32_t>(hwy::PopCount(empty) / bits_per_cell) << 16 |
                                (num_subtables - i) << 8 |
                                static_cast<std::uint32_t>(std::countr_zero(empty)) / bits_per_cell);
    }
    if (best >> 16 == 0) return {};
    return place(spots, num_subtables - (best >> 8 & 255), best & 255);
  }

  /// Writes a cell. Until the processor has the address of a write, the reads of the next key may have to wait, and
  /// here that address depends on what all buckets hold. So masked writes go to all of them, where they are cheap.
  template <class Spots>
  static HWY_INLINE void write(const Spots& spots, const Place& at, std::uint32_t value) {
    if constexpr (HWY_TARGET <= HWY_AVX3 && Spots::are_in_registers && num_subtables == 2) {
      const typename Bucket<num_cells>::Tag tag;
      for (std::uint32_t i = 0; i < num_subtables; ++i) {
        const std::uint64_t bits = std::uint64_t{i == at.subtable} << at.index;
        hn::BlendedStore(hn::Set(tag, static_cast<Cell>(value)),
                         hn::LoadMaskBits(tag, reinterpret_cast<const std::uint8_t*>(&bits)), tag,
                         spots[i].cells);
      }
    } else {
      *at.cell = static_cast<Cell>(value);
    }
  }

  using Cells = std::integral_constant<std::uint64_t, num_cells>;
  using Subtables = std::integral_constant<std::uint32_t, num_subtables>;

  template <class Scheme>
  static HWY_ATTR HWY_FLATTEN void find_spots(const DLeftSpotFinder<Scheme>& finder,
                                              const std::uint64_t* words, const Hash128* keys,
                                              std::size_t num_keys, DLeftSpot* spots) {
    const DLeftSpotFinder<Scheme> own = finder;
    for (std::size_t k = 0; k < num_keys; ++k) {
      DLeftSpot* const found = spots + k * num_subtables;
      own.find(keys[k], words, Cells(), Subtables(), found);
      for (std::uint32_t i = 0; i < num_subtables; ++i) prefetch_for_read(found[i].cells);
    }
  }

  template <class Spots>
  static TALLY_INLINE_FOR_KEY bool contains_key(Cell mask, const Spots& spots) {
    const typename Bucket<num_cells>::Tag tag;
    const auto equal_from = [&](const DLeftSpot& spot, std::size_t j) HWY_ATTR {
      return hn::Eq(hn::And(hn::Load(tag, spot.cells + j), hn::Set(tag, mask)),
                    hn::Set(tag, remainder(spot)));
    };
    auto found = equal_from(spots[0], 0);
    for (std::uint32_t i = 0; i < num_subtables; ++i) {
      for (std::size_t j = i == 0 ? hn::Lanes(tag) : 0; j < num_cells; j += hn::Lanes(tag)) {
        found = hn::Or(found, equal_from(spots[i], j));
      }
    }
    return !hn::AllFalse(tag, found);
  }
  template <class Spots>
  static TALLY_INLINE_FOR_KEY std::uint32_t count_key(Cell mask, std::uint32_t counter_shift,
                                                      const Spots& spots) {
    const Place held = find(mask, spots);
    return held.cell == nullptr ? 0 : (std::uint32_t{*held.cell} >> counter_shift) + 1;
  }
  template <class Spots>
  static TALLY_INLINE_FOR_KEY DLeftDone insert_key(Cell mask, std::uint32_t counter_shift,
                                                   std::uint32_t max_counter, const Spots& spots) {
    if (const Place held = find(mask, spots); held.cell != nullptr) {
      const std::uint32_t cell = *held.cell;
      if (cell >> counter_shift == max_counter) return DLeftDone::left_to_table;
      write(spots, held, cell + (1u << counter_shift));
      return DLeftDone::counter_changed;
    }
    const Place room = least_loaded(spots);
    if (room.cell == nullptr) return DLeftDone::left_to_table;
    write(spots, room, room.remainder);
    return DLeftDone::cell_changed;
  }
  template <class Spots>
  static TALLY_INLINE_FOR_KEY DLeftDone remove_key(Cell mask, std::uint32_t counter_shift,
                                                   std::uint32_t max_counter, const Spots& spots) {
    const Place held = find(mask, spots);
    if (held.cell == nullptr) return DLeftDone::absent;
    const std::uint32_t cell = *held.cell;
    if (cell >> counter_shift == max_counter) return DLeftDone::left_to_table;
    const bool is_last = cell >> counter_shift == 0;
    write(spots, held, is_last ? 0 : cell - (1u << counter_shift));
    return is_last ? DLeftDone::cell_changed : DLeftDone::counter_changed;
  }

  static HWY_ATTR void contains(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                                bool* found) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables)
      found[k] = contains_key(mask, SpotsInMemory{spots});
  }

  static HWY_ATTR void count(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                             std::uint32_t* counts) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables) {
      counts[k] = count_key(mask, table.counter_shift, SpotsInMemory{spots});
    }
  }

  static HWY_ATTR std::size_t insert(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                                     std::uint64_t& num_new) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables) {
      const DLeftDone done = insert_key(mask, table.counter_shift, table.max_counter, SpotsInMemory{spots});
      if (done == DLeftDone::left_to_table) return k;
      num_new += done == DLeftDone::cell_changed;
    }
    return num_keys;
  }

  static HWY_ATTR std::size_t remove(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                                     bool* removed, std::uint64_t& num_emptied) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables) {
      const DLeftDone done = remove_key(mask, table.counter_shift, table.max_counter, SpotsInMemory{spots});
      if (done == DLeftDone::left_to_table) return k;
      removed[k] = done != DLeftDone::absent;
      num_emptied += done == DLeftDone::cell_changed;
    }
    return num_keys;
  }

  struct OfOneKey {
    using Finder = DLeftKeyKernels::Finder;
    using Spots = SpotsInRegisters<num_subtables>;

    static HWY_INLINE Spots spots_of(const Finder& finder, const std::uint64_t* words, Hash128 digest) {
      Spots found;
      finder.find(digest, words, Cells(), Subtables(), found.spots.data());
      return found;
    }
    /// For processors with one copy of the operations: that of runs of keys.
    static HWY_INLINE decltype(auto) handed_over(const Spots& spots) {
      if constexpr (is_inlined) return (spots);
      else return SpotsInMemory{spots.spots.data()};
    }

    static HWY_INLINE Cell mask_of(const Finder& finder) {
      return static_cast<Cell>(finder.remainder_mask());
    }

    static HWY_ATTR HWY_FLATTEN bool contains(const Finder& finder, const std::uint64_t* words,
                                              Hash128 digest) {
      const Spots spots = spots_of(finder, words, digest);
      return contains_key(mask_of(finder), handed_over(spots));
    }
    static HWY_ATTR HWY_FLATTEN std::uint32_t count(const Finder& finder, const std::uint64_t* words,
                                                    Hash128 digest) {
      const Spots spots = spots_of(finder, words, digest);
      return count_key(mask_of(finder), finder.counter_shift(), handed_over(spots));
    }
    static HWY_ATTR HWY_FLATTEN DLeftDone insert(const Finder& finder, std::uint32_t max_counter,
                                                 std::uint64_t* words, Hash128 digest) {
      const Spots spots = spots_of(finder, words, digest);
      return insert_key(mask_of(finder), finder.counter_shift(), max_counter, handed_over(spots));
    }
    static HWY_ATTR HWY_FLATTEN DLeftDone remove(const Finder& finder, std::uint32_t max_counter,
                                                 std::uint64_t* words, Hash128 digest) {
      const Spots spots = spots_of(finder, words, digest);
      return remove_key(mask_of(finder), finder.counter_shift(), max_counter, handed_over(spots));
    }

    static constexpr DLeftKeyKernels all{contains, count, insert, remove};
  };

  static constexpr DLeftKernels all{find_spots<RotationBuckets>,
                                    find_spots<MultiplierBuckets>,
                                    contains,
                                    count,
                                    insert,
                                    remove,
                                    OfOneKey::all};
};

template <std::size_t num_cells>
const DLeftKernels* kernels_of(std::uint32_t num_subtables) {
  switch (num_subtables) {
    case 2:
      return &Kernels<num_cells, 2>::all;
    case 3:
      return &Kernels<num_cells, 3>::all;
    case 4:
      return &Kernels<num_cells, 4>::all;
    default:
      return nullptr;
  }
}

const DLeftKernels* kernels_here(std::uint32_t num_subtables, std::uint32_t cells_per_bucket) {
  switch (cells_per_bucket) {
    case 8:
      return kernels_of<8>(num_subtables);
    case 16:
      return kernels_of<16>(num_subtables);
    case 32:
      return kernels_of<32>(num_subtables);
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tally::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::detail {

HWY_EXPORT(kernels_here);

const DLeftKernels* dleft_kernels(const DLeftShape& shape) noexcept {
  if (shape.cell_bits() != 16) return nullptr;
  return HWY_DYNAMIC_DISPATCH(kernels_here)(shape.num_subtables, shape.cells_per_bucket);
}

}  // namespace tally::detail
#endif  // HWY_ONCE

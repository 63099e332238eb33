#include "tally/detail/dleft/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/dleft/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Cell = std::uint16_t;

/// A bucket of `num_cells` cells, at the start of a line or of a power-of-two part of a line.
template <std::size_t num_cells>
struct Bucket {
  using Tag = hn::CappedTag<Cell, num_cells>;

  Cell* cells;

  /// Bit j: whether cell j, masked, equals `wanted`.
  HWY_INLINE std::uint64_t equal(Cell mask, Cell wanted) const {
    const Tag tag;
    const auto all_wanted = hn::Set(tag, wanted);
    const auto all_masks = hn::Set(tag, mask);
    std::uint64_t found = 0;
    for (std::size_t j = 0; j < num_cells; j += hn::Lanes(tag)) {
      std::uint64_t bits = 0;
      const auto here = hn::Eq(hn::And(hn::Load(tag, cells + j), all_masks), all_wanted);
      hn::StoreMaskBits(tag, here, reinterpret_cast<std::uint8_t*>(&bits));
      found |= bits << j;
    }
    return found;
  }

  HWY_INLINE bool contains(Cell mask, Cell remainder) const {
    const Tag tag;
    const auto wanted = hn::Set(tag, remainder);
    const auto all_masks = hn::Set(tag, mask);
    bool found = false;
    for (std::size_t j = 0; j < num_cells; j += hn::Lanes(tag)) {
      found |= !hn::AllFalse(tag, hn::Eq(hn::And(hn::Load(tag, cells + j), all_masks), wanted));
    }
    return found;
  }

  HWY_INLINE std::uint64_t empty() const { return equal(std::numeric_limits<Cell>::max(), 0); }
};

// Which bucket holds a key, and which has the most room, is unpredictable, so there is no branch for either.
template <std::size_t num_cells, std::uint32_t num_subtables>
struct Kernels {
  static HWY_INLINE Cell mask_of(const DLeftCells& table) {
    return static_cast<Cell>((1u << table.remainder_bits) - 1);
  }
  static HWY_INLINE Bucket<num_cells> bucket(const DLeftSpot& spot) { return {spot.cells}; }
  static HWY_INLINE Cell remainder(const DLeftSpot& spot) { return static_cast<Cell>(spot.remainder); }

  /// The key's cell, or null.
  static HWY_INLINE Cell* find(Cell mask, const DLeftSpot* spots) {
    std::array<std::uint64_t, (num_cells * num_subtables + 63) / 64> found{};
    for (std::uint32_t i = 0; i < num_subtables; ++i) {
      found[i * num_cells / 64] |= bucket(spots[i]).equal(mask, remainder(spots[i])) << (i * num_cells % 64);
    }
    for (std::size_t word = 0; word < found.size(); ++word) {
      if (found[word] == 0) continue;
      const std::size_t at = 64 * word + static_cast<std::size_t>(std::countr_zero(found[word]));
      return spots[at / num_cells].cells + at % num_cells;
    }
    return nullptr;
  }

  struct Room {
    Cell* cell;  // null if all buckets are full
    Cell remainder;
  };
  /// An empty cell in the least loaded bucket; ties go left.
  static HWY_INLINE Room least_loaded(const DLeftSpot* spots) {
    std::array<std::uint64_t, num_subtables> empty;
    std::uint32_t best = 0;  // number of empty cells, then num_subtables minus the index
    for (std::uint32_t i = 0; i < num_subtables; ++i) {
      empty[i] = bucket(spots[i]).empty();
      best = std::max(best, static_cast<std::uint32_t>(hwy::PopCount(empty[i])) << 8 | (num_subtables - i));
    }
    const std::uint32_t i = num_subtables - (best & 255);
    if (best >> 8 == 0) return {nullptr, 0};
    return {spots[i].cells + std::countr_zero(empty[i]), remainder(spots[i])};
  }

  template <class Scheme>
  static HWY_ATTR HWY_FLATTEN void find_spots(const DLeftSpotFinder<Scheme>& finder, const Hash128* keys,
                                              std::size_t num_keys, DLeftSpot* spots) {
    using Cells = std::integral_constant<std::uint64_t, num_cells>;
    using Subtables = std::integral_constant<std::uint32_t, num_subtables>;
    const DLeftSpotFinder<Scheme> own = finder;
    for (std::size_t k = 0; k < num_keys; ++k) {
      own.find(keys[k], Cells(), Subtables(), spots + k * num_subtables);
    }
  }

  static HWY_ATTR void contains(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                                bool* found) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables) {
      bool any = false;
      for (std::uint32_t i = 0; i < num_subtables; ++i) {
        any |= bucket(spots[i]).contains(mask, remainder(spots[i]));
      }
      found[k] = any;
    }
  }

  static HWY_ATTR void count(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                             std::uint32_t* counts) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables) {
      const Cell* const cell = find(mask, spots);
      counts[k] = cell == nullptr ? 0 : (std::uint32_t{*cell} >> table.counter_shift) + 1;
    }
  }

  static HWY_ATTR std::size_t insert(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                                     std::uint64_t& num_new) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables) {
      if (Cell* const held = find(mask, spots)) {
        if (std::uint32_t{*held} >> table.counter_shift == table.max_counter) return k;
        *held = static_cast<Cell>(*held + (1u << table.counter_shift));
        continue;
      }
      const Room room = least_loaded(spots);
      if (room.cell == nullptr) return k;
      *room.cell = room.remainder;
      ++num_new;
    }
    return num_keys;
  }

  static HWY_ATTR std::size_t remove(const DLeftCells& table, const DLeftSpot* spots, std::size_t num_keys,
                                     bool* removed, std::uint64_t& num_emptied) {
    const Cell mask = mask_of(table);
    for (std::size_t k = 0; k < num_keys; ++k, spots += num_subtables) {
      Cell* const cell = find(mask, spots);
      removed[k] = cell != nullptr;
      if (cell == nullptr) continue;
      const std::uint32_t counter = std::uint32_t{*cell} >> table.counter_shift;
      if (counter == table.max_counter) return k;
      num_emptied += counter == 0;
      *cell = counter == 0 ? Cell{0} : static_cast<Cell>(*cell - (1u << table.counter_shift));
    }
    return num_keys;
  }

  static constexpr DLeftKernels all{
      find_spots<RotationBuckets>, find_spots<MultiplierBuckets>, contains, count, insert, remove};
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

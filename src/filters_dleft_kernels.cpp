#include "tally/filters/dleft_kernels.hpp"

#include <limits>

// Compiled once for every instruction set that Highway knows of this machine's kind; the best is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters_dleft_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Cell = std::uint16_t;

/// A bucket of so many cells, at the start of a line or of a power of two part of one.
template <std::size_t num_cells>
struct Bucket {
  using Tag = hn::CappedTag<Cell, num_cells>;

  Cell* cells;

  /// The index of the cell with that remainder, or -1.
  HWY_INLINE std::ptrdiff_t find(Cell mask, Cell remainder) const {
    const Tag tag;
    const auto wanted = hn::Set(tag, remainder);
    const auto all_masks = hn::Set(tag, mask);
    for (std::size_t j = 0; j < num_cells; j += hn::Lanes(tag)) {
      const auto equal = hn::Eq(hn::And(hn::Load(tag, cells + j), all_masks), wanted);
      const std::ptrdiff_t at = hn::FindFirstTrue(tag, equal);
      if (at >= 0) return static_cast<std::ptrdiff_t>(j) + at;
    }
    return -1;
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

  HWY_INLINE std::size_t num_empty() const {
    const Tag tag;
    std::size_t count = 0;
    for (std::size_t j = 0; j < num_cells; j += hn::Lanes(tag)) {
      count += hn::CountTrue(tag, hn::Eq(hn::Load(tag, cells + j), hn::Zero(tag)));
    }
    return count;
  }
};

struct Found {
  std::uint32_t subtable;
  Cell* cell;
};

template <std::size_t num_cells>
struct Kernels {
  static HWY_INLINE Bucket<num_cells> bucket(const DLeftView& view, std::uint32_t i, std::uint64_t place) {
    const std::uint64_t number = i * view.buckets_per_subtable + (place >> view.remainder_bits);
    return {reinterpret_cast<Cell*>(view.words) + number * num_cells};
  }
  static HWY_INLINE Cell mask_of(const DLeftView& view) {
    return static_cast<Cell>((1u << view.remainder_bits) - 1);
  }

  static HWY_INLINE Cell* find(const DLeftView& view, const std::uint64_t* places) {
    const Cell mask = mask_of(view);
    for (std::uint32_t i = 0; i < view.num_subtables; ++i) {
      const auto here = bucket(view, i, places[i]);
      const std::ptrdiff_t at = here.find(mask, static_cast<Cell>(places[i] & mask));
      if (at >= 0) return here.cells + at;
    }
    return nullptr;
  }

  static HWY_ATTR void contains(const DLeftView& view, const std::uint64_t* places, std::size_t num_keys,
                                bool* found) {
    const Cell mask = mask_of(view);
    for (std::size_t k = 0; k < num_keys; ++k, places += view.num_subtables) {
      bool any = false;
      for (std::uint32_t i = 0; i < view.num_subtables; ++i) {
        any |= bucket(view, i, places[i]).contains(mask, static_cast<Cell>(places[i] & mask));
      }
      found[k] = any;
    }
  }

  static HWY_ATTR void count(const DLeftView& view, const std::uint64_t* places, std::size_t num_keys,
                             std::uint32_t* counts) {
    for (std::size_t k = 0; k < num_keys; ++k, places += view.num_subtables) {
      const Cell* const cell = find(view, places);
      counts[k] = cell == nullptr ? 0 : (std::uint32_t{*cell} >> view.counter_shift) + 1;
    }
  }

  static HWY_ATTR std::size_t insert(const DLeftView& view, const std::uint64_t* places, std::size_t num_keys,
                                     std::uint64_t& num_new) {
    const Cell mask = mask_of(view);
    for (std::size_t k = 0; k < num_keys; ++k, places += view.num_subtables) {
      if (Cell* const cell = find(view, places)) {
        if (std::uint32_t{*cell} >> view.counter_shift == view.max_counter) return k;
        *cell = static_cast<Cell>(*cell + (1u << view.counter_shift));
        continue;
      }
      std::size_t most_empty = 0;
      Bucket<num_cells> best{};
      std::uint64_t place = 0;
      for (std::uint32_t i = 0; i < view.num_subtables; ++i) {
        const auto here = bucket(view, i, places[i]);
        const std::size_t num_empty = here.num_empty();
        const bool better = num_empty > most_empty;
        best.cells = better ? here.cells : best.cells;
        place = better ? places[i] : place;
        most_empty = better ? num_empty : most_empty;
      }
      if (most_empty == 0) return k;
      best.cells[best.find(std::numeric_limits<Cell>::max(), 0)] = static_cast<Cell>(place & mask);
      ++num_new;
    }
    return num_keys;
  }

  static HWY_ATTR std::size_t remove(const DLeftView& view, const std::uint64_t* places, std::size_t num_keys,
                                     bool* removed, std::uint64_t& num_emptied) {
    for (std::size_t k = 0; k < num_keys; ++k, places += view.num_subtables) {
      Cell* const cell = find(view, places);
      removed[k] = cell != nullptr;
      if (cell == nullptr) continue;
      const std::uint32_t counter = std::uint32_t{*cell} >> view.counter_shift;
      if (counter == view.max_counter) return k;
      num_emptied += counter == 0;
      *cell = counter == 0 ? Cell{0} : static_cast<Cell>(*cell - (1u << view.counter_shift));
    }
    return num_keys;
  }

  static constexpr DLeftKernels table{contains, count, insert, remove};
};

const DLeftKernels* kernels_here(std::uint32_t cells_per_bucket) {
  switch (cells_per_bucket) {
    case 8:
      return &Kernels<8>::table;
    case 16:
      return &Kernels<16>::table;
    case 32:
      return &Kernels<32>::table;
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
  return HWY_DYNAMIC_DISPATCH(kernels_here)(shape.cells_per_bucket);
}

}  // namespace tally::detail
#endif  // HWY_ONCE

#include "tally/detail/compact/kernels.hpp"

#include <cstddef>
#include <cstdint>

#include "tally/detail/prefetch.hpp"

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/compact/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "detail/compact/line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

template <std::uint32_t remainder_bits>
struct CompactLoops {
  using L = Line<remainder_bits>;
  using Key = typename L::Key;

  static TALLY_INLINE_FOR_KEY std::uint32_t count_in(const CompactSpot& spot) {
    const Key key(spot.in_line);
    return static_cast<std::uint32_t>(hwy::PopCount(L::find(spot.left, key).cells) +
                                      hwy::PopCount(L::find(spot.right, key).cells));
  }
  static TALLY_INLINE_FOR_KEY bool is_in(const CompactSpot& spot) {
    const Key key(spot.in_line);
    return (L::find(spot.left, key).cells | L::find(spot.right, key).cells) != 0;
  }

  /// `left` or `right`, which is chosen by all ones.
  static HWY_INLINE Word chosen(Word is_right, Word left, Word right) {
    return (left & ~is_right) | (right & is_right);
  }
  static HWY_INLINE Byte* chosen(Word is_right, Byte* left, Byte* right) {
    return left + ((right - left) & static_cast<std::ptrdiff_t>(is_right));
  }

  static TALLY_INLINE_FOR_KEY CompactInserted insert_in(const CompactSpot& spot) {
    const Key key(spot.in_line);
    const auto left = L::find(spot.left, key);
    const auto right = L::find(spot.right, key);
    const Word left_starts = L::starts_of(spot.left);
    const Word right_starts = L::starts_of(spot.right);
    // The highest start is the number of cells in use. This compares the highest ones.
    Word is_right = 0 - Word{right_starts < (left_starts & ~right_starts)};
    const Word held = left.cells | right.cells;
    if (held != 0) [[unlikely]] {
      if (hwy::PopCount(held) >= max_compact_copies) return CompactInserted::no_room;
      is_right = 0 - Word{right.cells != 0};
    }
    const Word starts = chosen(is_right, left_starts, right_starts);
    if (starts >> L::num_cells != 0) [[unlikely]]
      return CompactInserted::no_room;
    L::insert_at(chosen(is_right, spot.left, spot.right), key, chosen(is_right, left.start, right.start),
                 chosen(is_right, left.occupied, right.occupied));
    return held == 0 ? CompactInserted::first : CompactInserted::again;
  }

  static TALLY_INLINE_FOR_KEY CompactRemoved remove_in(const CompactSpot& spot, bool stop_at_max) {
    const Key key(spot.in_line);
    const Word left = L::find(spot.left, key).cells;
    const Word right = L::find(spot.right, key).cells;
    const Word held = (left | right) & L::all_cells;
    if (held == 0) return CompactRemoved::absent;
    if (stop_at_max && hwy::PopCount(held) >= max_compact_copies) [[unlikely]]
      return CompactRemoved::at_max;
    L::remove_at(chosen(0 - Word{right != 0}, spot.left, spot.right), key, held & (0 - held));
    return (held & (held - 1)) == 0 ? CompactRemoved::last : CompactRemoved::one;
  }

  static HWY_INLINE CompactSpot spot_of(const CompactFinder& finder, Hash128 key) {
    return finder.spot_of(key, L::layout);
  }

  static HWY_ATTR HWY_FLATTEN void find_spots(const CompactFinder& finder, const Hash128* keys,
                                              std::size_t num_keys, CompactSpot* spots) {
    const CompactFinder own = finder;
    for (std::size_t k = 0; k < num_keys; ++k) {
      spots[k] = spot_of(own, keys[k]);
      prefetch_for_read(spots[k].left);
      prefetch_for_read(spots[k].right);
    }
  }
  static HWY_ATTR HWY_FLATTEN bool contains(const CompactFinder& finder, Hash128 key) {
    return is_in(spot_of(finder, key));
  }
  static HWY_ATTR HWY_FLATTEN CompactInserted insert(const CompactFinder& finder, Hash128 key) {
    return insert_in(spot_of(finder, key));
  }
  static HWY_ATTR HWY_FLATTEN CompactRemoved remove(const CompactFinder& finder, Hash128 key,
                                                    bool stop_at_max) {
    return remove_in(spot_of(finder, key), stop_at_max);
  }
  static HWY_ATTR void contains_all(const CompactSpot* spots, std::size_t num_keys, bool* found) {
    for (std::size_t k = 0; k < num_keys; ++k) found[k] = is_in(spots[k]);
  }
  static HWY_ATTR void count_all(const CompactSpot* spots, std::size_t num_keys, std::uint32_t* counts) {
    for (std::size_t k = 0; k < num_keys; ++k) counts[k] = count_in(spots[k]);
  }
  static HWY_ATTR std::size_t insert_all(const CompactSpot* spots, std::size_t num_keys,
                                         std::uint64_t& num_new) {
    std::size_t k = 0;
    std::uint64_t count = 0;
    for (; k < num_keys; ++k) {
      const CompactInserted how = insert_in(spots[k]);
      if (how == CompactInserted::no_room) break;
      count += how == CompactInserted::first;
    }
    num_new += count;
    return k;
  }
  static HWY_ATTR std::size_t remove_all(const CompactSpot* spots, std::size_t num_keys,
                                         RemoveResult* results, bool stop_at_max, std::uint64_t& num_removed,
                                         std::uint64_t& num_gone) {
    std::uint64_t count_gone = 0;
    std::uint64_t count_removed = 0;
    std::size_t k = 0;
    for (; k < num_keys; ++k) {
      const CompactRemoved how = remove_in(spots[k], stop_at_max);
      if (how == CompactRemoved::at_max) break;
      results[k] = how != CompactRemoved::absent ? RemoveResult::removed : RemoveResult::refused;
      count_removed += how != CompactRemoved::absent;
      count_gone += how == CompactRemoved::last;
    }
    num_removed += count_removed;
    num_gone += count_gone;
    return k;
  }

  static constexpr CompactKernels all{find_spots,   contains,  insert,     remove,
                                      contains_all, count_all, insert_all, remove_all};
};

const CompactKernels* compact_kernels_here(std::uint32_t remainder_bits) {
  switch (remainder_bits) {
    case 8:
      return &CompactLoops<8>::all;
    case 9:
      return &CompactLoops<9>::all;
    case 10:
      return &CompactLoops<10>::all;
    case 11:
      return &CompactLoops<11>::all;
    case 12:
      return &CompactLoops<12>::all;
    case 13:
      return &CompactLoops<13>::all;
    default:
      return &CompactLoops<14>::all;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tally::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::detail {

HWY_EXPORT(compact_kernels_here);

const CompactKernels& compact_kernels(const CompactDLeftShape& shape) noexcept {
  return *HWY_DYNAMIC_DISPATCH(compact_kernels_here)(shape.remainder_bits);
}

}  // namespace tally::detail
#endif  // HWY_ONCE

// A part of kernels.cpp: the operations on one line, compiled for each instruction set.
#if defined(TALLY_DETAIL_COMPACT_LINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_DETAIL_COMPACT_LINE_INL
#undef TALLY_DETAIL_COMPACT_LINE_INL
#else
#define TALLY_DETAIL_COMPACT_LINE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "detail/inline_for_key.hpp"
#include "tally/detail/compact/layout.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Word = std::uint64_t;
using Byte = unsigned char;

#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_BMI2_FMA)
/// The bit of `word` that has `rank` set bits below it, alone; 0 if there is none. `one` is 1 << rank.
HWY_INLINE Word nth_bit(Word word, Word one) { return _pdep_u64(one, word); }
/// The bits below `count`, which is less than 64.
HWY_INLINE Word low_bits(Word word, std::uint32_t count) { return _bzhi_u64(word, count); }
#else
TALLY_INLINE_FOR_KEY Word nth_bit(Word word, Word one) {
  auto rank = static_cast<std::size_t>(std::countr_zero(one));
  if (rank >= hwy::PopCount(word)) return 0;
  std::uint32_t at = 0;
  for (std::uint32_t half = 32; half != 0; half /= 2) {
    const std::size_t below = hwy::PopCount(word >> at & ((Word{1} << half) - 1));
    const bool is_above = rank >= below;
    rank -= is_above ? below : 0;
    at += is_above ? half : 0;
  }
  return Word{1} << at;
}
HWY_INLINE Word low_bits(Word word, std::uint32_t count) { return word & ((Word{1} << count) - 1); }
#endif

/// The same word, in a general register. Compilers like to go on in a mask register with what comes from one or goes
/// to one; each way there and back takes longer than all that is done with the word.
HWY_INLINE Word general(Word word) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  asm("" : "+r"(word));
#endif
  return word;
}

HWY_INLINE Word load_word(const Byte* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// The operations on lines of one layout. No branch depends on the key's data except for rare cases: whether it is in
/// one line or the other, or in none, is unpredictable.
template <std::uint32_t remainder_bits>
struct Line {
  static constexpr CompactLayout layout{remainder_bits};
  static constexpr std::uint32_t num_cells = layout.num_cells;
  static constexpr std::uint32_t num_mini_buckets = layout.num_mini_buckets;
  static constexpr Word all_cells = (Word{1} << num_cells) - 1;
  static constexpr bool two_words = num_mini_buckets > 64;  // of occupied mini-buckets
  static constexpr std::uint32_t num_high = two_words ? num_mini_buckets - 64 : 0;
  static constexpr std::uint32_t first_word = num_cells / 8;  // that has more than cells' bytes
  static_assert(layout.first_occupied + num_mini_buckets == 512 && num_cells <= max_compact_cells);

  /// The bits of a line from `first` on; garbage above. At least `width` of them.
  template <std::uint32_t first, std::uint32_t width>
  static HWY_INLINE Word bits_at(const Byte* line) {
    constexpr std::uint32_t byte = std::min(first / 8, 56u);
    static_assert(first - 8 * byte + width <= 64);
    return load_word(line + byte) >> (first - 8 * byte);
  }
  template <std::uint32_t plane>
  static HWY_INLINE Word plane_of(const Byte* line) {
    return bits_at<layout.first_plane + plane * num_cells, num_cells>(line);
  }
  /// Bit i: whether cell i is the first of its run, or the first unused one; garbage above bit num_cells.
  static HWY_INLINE Word loose_starts_of(const Byte* line) {
    return bits_at<layout.first_start - 1, num_cells + 1>(line) | 1;
  }
  static HWY_INLINE Word starts_of(const Byte* line) { return loose_starts_of(line) & (2 * all_cells + 1); }

  struct Key {
    explicit HWY_INLINE Key(std::uint64_t in_line)
        : mini_bucket(static_cast<std::uint32_t>(in_line >> remainder_bits)),
          remainder(static_cast<std::uint32_t>(in_line & ((1u << remainder_bits) - 1))) {}
    HWY_INLINE Byte low_byte() const { return static_cast<Byte>(remainder); }
    /// All ones or all zeros.
    template <std::uint32_t plane>
    HWY_INLINE Word bit_of_plane() const {
      return 0 - Word{remainder >> (8 + plane) & 1};
    }
    HWY_INLINE Word is_high() const { return two_words ? 0 - Word{mini_bucket >> 6} : 0; }

    std::uint32_t mini_bucket;
    std::uint32_t remainder;
  };

  struct Found {
    Word start;     // the first cell of the key's run; where that is empty, of the next one
    Word cells;     // that hold the key
    Word occupied;  // whether the run is not empty: 0 or 1
  };

  static HWY_INLINE Found find(const Byte* line, Key key) {
    const std::uint32_t shift = key.mini_bucket & 63;
    Word occupied;
    Word rank = 0;
    if constexpr (two_words) {
      const std::uint32_t high = key.mini_bucket >> 6;
      occupied = load_word(line + 56 - 8 * high) >> ((64 - num_high) & key.is_high());
      rank = hwy::PopCount(load_word(line + 56)) & key.is_high();
    } else {
      occupied = bits_at<layout.first_occupied, num_mini_buckets>(line);
    }
    rank += hwy::PopCount(low_bits(occupied, shift));
    Found found;
    found.occupied = occupied >> shift & 1;
    const Word starts = loose_starts_of(line);
    const Word one = Word{1} << (rank & 63);
    found.start = nth_bit(starts, one);
    const Word run = nth_bit(starts, one << found.occupied) - found.start;
    found.cells = equal_bytes(line, key.low_byte()) & run;
    keep_equal<0>(line, key, found.cells);
    return found;
  }
  template <std::uint32_t plane>
  static HWY_INLINE void keep_equal(const Byte* line, Key key, Word& cells) {
    if constexpr (plane < layout.num_planes) {
      cells &= ~(plane_of<plane>(line) ^ key.template bit_of_plane<plane>());
      keep_equal<plane + 1>(line, key, cells);
    }
  }

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // A line is one vector. VBMI2's expand and compress do the same as the shifts of bytes here in the same time.
  using Bytes = hn::FixedTag<Byte, 64>;
  using Words = hn::FixedTag<Word, 8>;
  using LineWords = std::array<Word, 8>;

  /// The planes, and the starts as one more. There, a key that is inserted has the bit 1 if its run had no cells, else 0.
  struct PlaneMasks {
    static constexpr std::uint32_t num_planes = layout.num_planes + 1;
    static_assert(layout.first_start == layout.first_plane + layout.num_planes * num_cells);

    static constexpr std::uint32_t before = num_cells + 2;
    // [i]: in every plane, the bits from i on; [before + i]: the same, but of the starts those from i - 1 on
    alignas(64) std::array<LineWords, std::size_t{2} * before> from{};
    alignas(
        64) std::array<LineWords, std::size_t{1} << num_planes> of{};  // [u]: the planes of the set bits of u

    constexpr PlaneMasks() {
      for (std::uint32_t bit = 0; bit < num_planes * num_cells; ++bit) {
        const std::uint32_t word = (layout.first_plane + bit) / 64;
        const Word mask = Word{1} << ((layout.first_plane + bit) % 64);
        const std::uint32_t more = bit / num_cells == layout.num_planes ? 1 : 0;
        for (std::uint32_t i = 0; i <= bit % num_cells; ++i) from[i][word] |= mask;
        for (std::uint32_t i = 0; i <= bit % num_cells + more; ++i) from[before + i][word] |= mask;
        for (std::size_t upper = 0; upper < of.size(); ++upper) {
          if ((upper >> (bit / num_cells) & 1) != 0) of[upper][word] |= mask;
        }
      }
    }
  };
  static constexpr PlaneMasks plane_masks{};

  static HWY_INLINE Word equal_bytes(const Byte* line, Byte byte) {
    return general(_mm512_cmpeq_epi8_mask(hn::Load(Bytes(), line).raw, hn::Set(Bytes(), byte).raw));
  }

  /// Puts the key into the cell `at`, the first of its run; those from there on move up by one. The line is not full.
  static HWY_INLINE void insert_at(Byte* line, Key key, Word at, Word occupied) {
    const __m512i old = hn::Load(Bytes(), line).raw;
    const __m512i blocks_up = _mm512_maskz_alignr_epi64(0xff, old, old, 6);
    const __m512i moved = _mm512_mask_alignr_epi8(old, (0 - at) & all_cells, old, blocks_up, 15);
    const hn::Vec<Words> cells{
        _mm512_mask_mov_epi8(moved, at & all_cells, hn::Set(Bytes(), key.low_byte()).raw)};

    // Lines that no filter wrote may lead to no cell, or to one that is not there.
    const auto cell = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(at)), num_cells);
    const hn::Vec<Words> words_up{_mm512_maskz_alignr_epi64(0xff, old, old, 7)};
    const auto bits_up = hn::Or(hn::ShiftLeft<1>(hn::Vec<Words>{old}), hn::ShiftRight<63>(words_up));
    const auto from = load_words(plane_masks.from[cell]);
    const auto above = load_words(plane_masks.from[cell + 1]);
    const auto own = load_words(plane_masks.of[key.remainder >> 8 | (occupied ^ 1) << layout.num_planes]);
    const auto planes = hn::Or(hn::And(above, bits_up), hn::And(hn::Xor(from, above), own));
    store(line, hn::Or(hn::AndNot(from, cells), planes), key, occupied ^ 1);
  }

  /// Empties the cell `at` of the key; those after it move down by one.
  static HWY_INLINE void remove_at(Byte* line, Key key, Word at) {
    const __m512i old = hn::Load(Bytes(), line).raw;
    const __m512i blocks_down = _mm512_maskz_alignr_epi64(0xff, old, old, 2);
    const __m512i moved = _mm512_mask_alignr_epi8(old, (0 - at) & (all_cells >> 1), blocks_down, old, 1);
    const hn::Vec<Words> cells{
        _mm512_mask_mov_epi8(moved, Word{1} << (num_cells - 1), hn::Zero(Bytes()).raw)};

    const hn::Vec<Words> words_down{_mm512_maskz_alignr_epi64(0xff, old, old, 1)};
    const auto bits_down = hn::Or(hn::ShiftRight<1>(hn::Vec<Words>{old}), hn::ShiftLeft<63>(words_down));
    // Of the starts of this cell and the next one, one goes: this one's, unless it is set. Cell i + 1 has bit i of them.
    const Word starts = starts_of(line);
    const auto cell = static_cast<std::size_t>(std::countr_zero(at));
    const std::size_t is_not_first = ~starts >> cell & 1;
    const auto from = load_words(plane_masks.from[cell + is_not_first * PlaneMasks::before]);
    const auto last = load_words(plane_masks.from[num_cells - 1]);
    const auto planes = hn::And(hn::AndNot(last, from), bits_down);
    store(line, hn::Or(hn::AndNot(from, cells), planes), key, (starts & starts >> 1 & at) != 0);
  }

  static HWY_INLINE hn::Vec<Words> load_words(const LineWords& words) {
    return hn::Load(Words(), words.data());
  }
  /// Stores the line, in which `changed`, 0 or 1, says whether the key's mini-bucket gets or loses its only cell.
  static HWY_INLINE void store(Byte* line, hn::Vec<Words> now, Key key, Word changed) {
    static_assert(layout.first_occupied >= (two_words ? 6 : 7) * 64);
    const std::uint32_t first = two_words ? 0 : layout.first_occupied - 7 * 64;
    const Word bit = changed << ((key.mini_bucket + first) & 63);
    const auto low = static_cast<long long>(bit & ~key.is_high());
    const auto high = static_cast<long long>((bit & key.is_high()) << ((64 - num_high) & 63));
    const __m512i change =
        _mm512_maskz_inserti64x2(0xff, hn::Zero(Bytes()).raw, _mm_set_epi64x(low, high), 3);
    hn::Store(hn::Xor(now, hn::Vec<Words>{change}), Words(), reinterpret_cast<Word*>(line));
  }
#else
  /// Differences of the words of a line that are not all cells.
  struct Difference {
    std::array<Word, 8> words{};

    template <std::uint32_t first>
    HWY_INLINE void add(Word bits) {
      words[first / 64] |= bits << (first % 64);
      if constexpr (first % 64 != 0 && first / 64 < 7) words[first / 64 + 1] |= bits >> (64 - first % 64);
    }
    /// `bit` is 0 or 1.
    HWY_INLINE void add_occupied(Key key, Word bit) {
      const Word bits = bit << (key.mini_bucket & 63);
      if constexpr (two_words) {
        words[7] |= bits & ~key.is_high();
        words[6] |= (bits & key.is_high()) << (64 - num_high);
      } else {
        add<layout.first_occupied>(bits);
      }
    }
  };

  template <std::uint32_t plane>
  static HWY_INLINE void insert_in_planes(const Byte* line, Key key, Word at, Difference& difference) {
    if constexpr (plane < layout.num_planes) {
      const Word old = plane_of<plane>(line) & all_cells;
      const Word now = (old + (old & (0 - at))) | (at & key.template bit_of_plane<plane>());
      difference.template add<layout.first_plane + plane * num_cells>(now ^ old);
      insert_in_planes<plane + 1>(line, key, at, difference);
    }
  }
  template <std::uint32_t plane>
  static HWY_INLINE void remove_from_planes(const Byte* line, Word at, Difference& difference) {
    if constexpr (plane < layout.num_planes) {
      const Word old = plane_of<plane>(line) & all_cells;
      const Word now = (old & (at - 1)) | (old >> 1 & (0 - at));
      difference.template add<layout.first_plane + plane * num_cells>(now ^ old);
      remove_from_planes<plane + 1>(line, at, difference);
    }
  }

  /// Puts the key into the cell `at`, the first of its run; those from there on move up by one. The line is not full.
  static HWY_INLINE void insert_at(Byte* line, Key key, Word at, Word occupied) {
    Difference difference;
    const Word old = starts_of(line);
    difference.add_occupied(key, occupied ^ 1);
    // If the run has cells, its old first one is no longer the first.
    const Word now = old + (old & (0 - at)) + at - ((at & (0 - occupied)) << 1);
    difference.template add<layout.first_start>((old ^ now) >> 1);
    insert_in_planes<0>(line, key, at, difference);
    insert_byte(line, at, key, difference);
  }

  /// Empties the cell `at` of the key; those after it move down by one.
  static HWY_INLINE void remove_at(Byte* line, Key key, Word at) {
    Difference difference;
    const Word old = starts_of(line);
    difference.add_occupied(key, (old & old >> 1 & at) != 0);
    const Word now = (old & (2 * at - 1)) | (old >> 1 & (0 - at));
    difference.template add<layout.first_start>((old ^ now) >> 1);
    remove_from_planes<0>(line, at, difference);
    remove_byte(line, at, difference);
  }

#if HWY_TARGET == HWY_SCALAR
  /// Bit i: whether byte i is this one; garbage above bit num_cells.
  static HWY_INLINE Word equal_bytes(const Byte* line, Byte byte) {
    Word found = 0;
    for (std::uint32_t i = 0; i < num_cells; ++i) found |= Word{line[i] == byte} << i;
    return found;
  }
  static HWY_INLINE void insert_byte(Byte* line, Word at, Key key, const Difference& difference) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(at));
    if (i < num_cells) {
      std::memmove(line + i + 1, line + i, num_cells - 1 - i);
      line[i] = key.low_byte();
    }
    change_words(line, difference);
  }
  static HWY_INLINE void remove_byte(Byte* line, Word at, const Difference& difference) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(at));
    std::memmove(line + i, line + i + 1, num_cells - 1 - i);
    line[num_cells - 1] = 0;
    change_words(line, difference);
  }
#else
  using Block = hn::Full128<Byte>;
  static constexpr std::uint32_t num_blocks = (num_cells + 15) / 16;

  static HWY_INLINE Word equal_bytes(const Byte* line, Byte byte) {
    using Tag = hn::CappedTag<Byte, 32>;
    const Tag tag;
    const auto wanted = hn::Set(tag, byte);
    Word found = 0;
    for (std::size_t j = 0; j < num_cells; j += hn::Lanes(tag)) {
      Word bits = 0;
      hn::StoreMaskBits(tag, hn::Eq(hn::Load(tag, line + j), wanted), reinterpret_cast<std::uint8_t*>(&bits));
      found |= bits << j;
    }
    return found;
  }
  static HWY_INLINE void insert_byte(Byte* line, Word at, Key key, const Difference& difference) {
    const Block tag;
    const auto first = hn::Set(tag, static_cast<Byte>(at == 0 ? 255 : std::countr_zero(at)));
    const auto end = hn::Set(tag, static_cast<Byte>(num_cells));
    auto below = hn::Zero(tag);
    for (std::uint32_t block = 0; block < num_blocks; ++block) {
      const auto old = hn::Load(tag, line + 16 * block);
      const auto index = hn::Iota(tag, static_cast<Byte>(16 * block));
      const auto moved = hn::CombineShiftRightBytes<15>(tag, old, below);
      const auto is_moved = hn::And(is_less(first, index), is_less(index, end));
      auto now = hn::IfThenElse(is_moved, moved, old);
      now = hn::IfThenElse(hn::And(hn::Eq(index, first), is_less(index, end)), hn::Set(tag, key.low_byte()),
                           now);
      hn::Store(now, tag, line + 16 * block);
      below = old;
    }
    change_words(line, difference);
  }
  static HWY_INLINE void remove_byte(Byte* line, Word at, const Difference& difference) {
    const Block tag;
    const auto first = hn::Set(tag, static_cast<Byte>(std::countr_zero(at)));
    const auto last = hn::Set(tag, static_cast<Byte>(num_cells - 1));
    auto old = hn::Load(tag, line);
    for (std::uint32_t block = 0; block < num_blocks; ++block) {
      const auto above = hn::Load(tag, line + 16 * ((block + 1) % 4));
      const auto index = hn::Iota(tag, static_cast<Byte>(16 * block));
      const auto moved = hn::CombineShiftRightBytes<1>(tag, above, old);
      const auto is_kept = hn::Or(is_less(index, first), is_less(last, index));
      const auto now =
          hn::IfThenElse(is_kept, old, hn::IfThenElse(is_less(index, last), moved, hn::Zero(tag)));
      hn::Store(now, tag, line + 16 * block);
      old = above;
    }
    change_words(line, difference);
  }
  template <class Vector>
  static HWY_INLINE auto is_less(Vector a, Vector b) {
    const hn::RebindToSigned<Block> tag;
    // Indices are below 128, except for the 255 of no cell.
    return hn::RebindMask(Block(), hn::Lt(hn::BitCast(tag, a), hn::BitCast(tag, b)));
  }
#endif

  static HWY_INLINE void change_words(Byte* line, const Difference& difference) {
    for (std::uint32_t i = first_word; i < 8; ++i) {
      const Word now = load_word(line + 8 * i) ^ difference.words[i];
      std::memcpy(line + 8 * i, &now, sizeof now);
    }
  }
#endif  // vectors that hold a line
};

}  // namespace HWY_NAMESPACE
}  // namespace tally::detail
HWY_AFTER_NAMESPACE();

#endif  // once per instruction set

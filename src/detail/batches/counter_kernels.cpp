#include "tally/detail/batches/counter_kernels.hpp"

#include <algorithm>
#include <array>

#include "detail/batches/nibble_increments.hpp"
#include "tally/hashing/mix64.hpp"

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/batches/counter_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

using Word = std::uint64_t;
using Byte = unsigned char;
using Bytes = hn::CappedTag<Byte, 64>;
using ByteVector = hn::Vec<Bytes>;

constexpr std::size_t line_bytes = 64;
constexpr std::size_t vector_bytes = HWY_MAX_BYTES < line_bytes ? HWY_MAX_BYTES : line_bytes;
constexpr std::size_t num_vectors = line_bytes / vector_bytes;
constexpr std::uint32_t slices_per_word = 4;
constexpr std::uint32_t slice_bits = 16;
constexpr std::uint32_t position_shift = 9;  // the position is the slice's 7 high bits

HWY_INLINE ByteVector all(Byte byte) { return hn::Set(Bytes(), byte); }
HWY_INLINE bool has_any(ByteVector bytes) { return !hn::AllTrue(Bytes(), hn::Eq(bytes, hn::Zero(Bytes()))); }

/// The counters of a line, two per byte.
struct Line {
  // An array of the standard library would be constructed without the instructions of this target.
  ByteVector vectors[num_vectors];

  HWY_INLINE Line() {}
  static HWY_INLINE Line load(const Byte* bytes) {
    Line line;
    for (std::size_t i = 0; i < num_vectors; ++i)
      line.vectors[i] = hn::Load(Bytes(), bytes + i * vector_bytes);
    return line;
  }
  HWY_INLINE void store(Byte* bytes) const {
    for (std::size_t i = 0; i < num_vectors; ++i) hn::Store(vectors[i], Bytes(), bytes + i * vector_bytes);
  }
  HWY_INLINE void add(const Line& other) {
    for (std::size_t i = 0; i < num_vectors; ++i) vectors[i] = hn::Add(vectors[i], other.vectors[i]);
  }
};

/// The increments of one position.
HWY_INLINE Line increments_of(Word word, std::uint32_t slice) {
  return Line::load(nibble_increments.lines[word >> (slice * slice_bits + position_shift) & 127].data());
}

/// How much a key adds to each counter: at most 15.
HWY_INLINE Line increments_of(Hash128 hash, std::uint32_t num_hashes) {
  Word word = hash.high;
  Line sum = increments_of(word, 0);
  std::uint32_t left = num_hashes;
  for (; left > slices_per_word; left -= slices_per_word) {
    sum.add(increments_of(word, 1));
    sum.add(increments_of(word, 2));
    sum.add(increments_of(word, 3));
    word = mix64(word + hash.low);
    sum.add(increments_of(word, 0));
  }
  if (left > 1) sum.add(increments_of(word, 1));
  if (left > 2) sum.add(increments_of(word, 2));
  if (left > 3) sum.add(increments_of(word, 3));
  return sum;
}

/// Whether every counter of both is below 8. Then they can be added and subtracted two at a time.
HWY_INLINE bool are_low(const Line& a, const Line& b) {
  ByteVector seen = hn::Or(a.vectors[0], b.vectors[0]);
  for (std::size_t i = 1; i < num_vectors; ++i) seen = hn::Or(seen, hn::Or(a.vectors[i], b.vectors[i]));
  return !has_any(hn::And(seen, all(0x88)));
}

/// The counters of a vector, those in the low and those in the high halves of the bytes.
struct Halves {
  explicit HWY_INLINE Halves(ByteVector bytes)
      : low(hn::And(bytes, all(0x0f))), high(hn::And(bytes, all(0xf0))) {}

  ByteVector low;
  ByteVector high;
};

/// `chosen`, in the places of counters at their maximum; 0 elsewhere.
HWY_INLINE ByteVector where_saturated(ByteVector low, ByteVector high, const Halves& chosen) {
  return hn::Or(hn::IfThenElseZero(hn::Eq(low, all(0x0f)), chosen.low),
                hn::IfThenElseZero(hn::Eq(high, all(0xf0)), chosen.high));
}

// The rare case is out of line, and works out the increments once more: a call has few instructions, so that the processor
// begins to read the lines of the next calls.

HWY_ATTR HWY_NOINLINE InsertResult insert_any(Byte* bytes, Hash128 hash, std::uint32_t num_hashes) {
  const Line increments = increments_of(hash, num_hashes);
  const Line old = Line::load(bytes);
  ByteVector saturated = hn::Zero(Bytes());
  Line now;
  for (std::size_t i = 0; i < num_vectors; ++i) {
    const Halves added(increments.vectors[i]);
    const Halves before(old.vectors[i]);
    const auto low = hn::Min(hn::Add(before.low, added.low), all(0x0f));
    const auto high = hn::And(hn::SaturatedAdd(before.high, added.high), all(0xf0));
    now.vectors[i] = hn::Or(low, high);
    saturated = hn::Or(saturated, where_saturated(low, high, added));
  }
  now.store(bytes);
  return has_any(saturated) ? InsertResult::saturated : InsertResult::counted;
}

HWY_ATTR HWY_NOINLINE RemoveResult remove_any(Byte* bytes, Hash128 hash, std::uint32_t num_hashes) {
  const Line decrements = increments_of(hash, num_hashes);
  const Line old = Line::load(bytes);
  ByteVector saturated = hn::Zero(Bytes());
  ByteVector missing = hn::Zero(Bytes());
  const Halves ones(all(0xff));
  Line now;
  for (std::size_t i = 0; i < num_vectors; ++i) {
    const Halves taken(decrements.vectors[i]);
    const Halves before(old.vectors[i]);
    missing = hn::Or(
        missing, hn::Or(hn::SaturatedSub(taken.low, before.low), hn::SaturatedSub(taken.high, before.high)));
    const auto stuck = where_saturated(before.low, before.high, ones);
    saturated = hn::Or(saturated, hn::And(stuck, decrements.vectors[i]));
    now.vectors[i] = hn::Sub(old.vectors[i], hn::AndNot(stuck, decrements.vectors[i]));
  }
  if (has_any(missing)) return RemoveResult::refused;
  now.store(bytes);
  return has_any(saturated) ? RemoveResult::saturated : RemoveResult::removed;
}

HWY_INLINE InsertResult insert_at(Word* words, Hash128 hash, std::uint32_t num_hashes) {
  Byte* const bytes = reinterpret_cast<Byte*>(words);
  const Line increments = increments_of(hash, num_hashes);
  Line line = Line::load(bytes);
  if (!are_low(line, increments)) [[unlikely]]
    return insert_any(bytes, hash, num_hashes);
  line.add(increments);
  line.store(bytes);
  return InsertResult::counted;
}

HWY_INLINE RemoveResult remove_at(Word* words, Hash128 hash, std::uint32_t num_hashes) {
  Byte* const bytes = reinterpret_cast<Byte*>(words);
  const Line decrements = increments_of(hash, num_hashes);
  const Line line = Line::load(bytes);
  if (!are_low(line, decrements)) [[unlikely]]
    return remove_any(bytes, hash, num_hashes);
  // With 8 more, no counter goes below 0, and those that would have are now below 8.
  ByteVector enough = all(0x88);
  for (std::size_t i = 0; i < num_vectors; ++i) {
    enough = hn::And(enough, hn::Sub(hn::Or(line.vectors[i], all(0x88)), decrements.vectors[i]));
  }
  const bool is_refused = !hn::AllTrue(Bytes(), hn::Eq(enough, all(0x88)));
  // Whether a key is refused is often unpredictable, so there is no branch.
  const ByteVector taken = all(static_cast<Byte>(is_refused ? 0 : 0xff));
  Line now;
  for (std::size_t i = 0; i < num_vectors; ++i)
    now.vectors[i] = hn::Sub(line.vectors[i], hn::And(taken, decrements.vectors[i]));
  now.store(bytes);
  return is_refused ? RemoveResult::refused : RemoveResult::removed;
}

#if HWY_TARGET <= HWY_AVX2
// A lane per position: a table lookup gives the 32 bits with its counter, and a shift the counter.
using Lanes32 = hn::CappedTag<std::uint32_t, 16>;
using Vector32 = hn::Vec<Lanes32>;

/// The 32-bit words of the line with these slices' positions, which are in the low 16 bits of the lanes.
HWY_INLINE Vector32 words_at(const Byte* line, Vector32 slices) {
  const Lanes32 tag;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(line);
  const auto numbers = hn::ShiftRight<12>(slices);
#if HWY_TARGET <= HWY_AVX3
  return hn::TableLookupLanes(hn::Load(tag, words), hn::IndicesFromVec(tag, numbers));
#else
  // The lookups take the low 3 bits of a number, and the choice between them takes its highest bit, as a sign.
  const __m256i lower = _mm256_permutevar8x32_epi32(hn::Load(tag, words).raw, numbers.raw);
  const __m256i upper = _mm256_permutevar8x32_epi32(hn::Load(tag, words + 8).raw, numbers.raw);
  const __m256i is_upper = hn::ShiftLeft<16>(slices).raw;
  return Vector32{_mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(lower), _mm256_castsi256_ps(upper),
                                                       _mm256_castsi256_ps(is_upper)))};
#endif
}

/// Lanes of zeros, then lanes of 15.
struct AbsentLanes {
  std::array<std::uint32_t, 32> lanes{};
  constexpr AbsentLanes() {
    for (std::size_t i = 16; i < lanes.size(); ++i) lanes[i] = 15;
  }
};
constexpr AbsentLanes absent_lanes;

/// The counters at the positions of these slices; 15 in the lanes from `count` on.
HWY_INLINE Vector32 counters_at(const Byte* line, Vector32 slices, std::uint32_t count) {
  const Lanes32 tag;
  const auto shifts = hn::And(hn::ShiftRight<7>(slices), hn::Set(tag, 28));
  const auto counters = hn::And(hn::Shr(words_at(line, slices), shifts), hn::Set(tag, 15));
  return hn::Or(counters, hn::LoadU(tag, absent_lanes.lanes.data() + 16 - count));
}

/// Lanes with the counters of a key, and 15 in the lanes without one.
HWY_INLINE Vector32 counters_of(const Word* words, Hash128 hash, std::uint32_t num_hashes) {
  const Byte* const line = reinterpret_cast<const Byte*>(words);
  const Word first = hash.high;
  const Word second = num_hashes > 4 ? mix64(first + hash.low) : 0;
#if HWY_TARGET <= HWY_AVX3
  __m256i slices =
      _mm256_zextsi128_si256(_mm_set_epi64x(static_cast<long long>(second), static_cast<long long>(first)));
  if (num_hashes > 8) {
    const Word third = mix64(second + hash.low);
    const Word fourth = num_hashes > 12 ? mix64(third + hash.low) : 0;
    slices = _mm256_inserti128_si256(
        slices, _mm_set_epi64x(static_cast<long long>(fourth), static_cast<long long>(third)), 1);
  }
  return counters_at(line, Vector32{_mm512_cvtepu16_epi32(slices)}, num_hashes);
#else
  const auto slices_in = [](Word low, Word high) HWY_ATTR {
    return Vector32{
        _mm256_cvtepu16_epi32(_mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low)))};
  };
  const auto counters = counters_at(line, slices_in(first, second), std::min(num_hashes, 8u));
  if (num_hashes <= 8) return counters;
  const Word third = mix64(second + hash.low);
  const Word fourth = num_hashes > 12 ? mix64(third + hash.low) : 0;
  return hn::Min(counters, counters_at(line, slices_in(third, fourth), num_hashes - 8));
#endif
}

HWY_INLINE bool passes_at(const Word* line, Hash128 hash, std::uint32_t num_hashes, std::uint32_t theta) {
  const hn::RebindToSigned<Lanes32> tag;
  const auto counters = hn::BitCast(tag, counters_of(line, hash, num_hashes));
  return hn::AllFalse(tag, hn::Lt(counters, hn::Set(tag, static_cast<std::int32_t>(theta))));
}

HWY_INLINE std::uint32_t count_at(const Word* line, Hash128 hash, std::uint32_t num_hashes) {
  const Lanes32 tag;
  return hn::GetLane(hn::MinOfLanes(tag, counters_of(line, hash, num_hashes)));
}
#else
HWY_INLINE std::uint32_t count_at(const Word* words, Hash128 hash, std::uint32_t num_hashes) {
  const Byte* const line = reinterpret_cast<const Byte*>(words);
  std::uint32_t least = 15;
  Word word = hash.high;
  for (std::uint32_t left = num_hashes;; left -= slices_per_word) {
    const std::uint32_t num_slices = std::min(left, slices_per_word);
    for (std::uint32_t i = 0; i < num_slices; ++i) {
      const Word position = word >> (i * slice_bits + position_shift) & 127;
      least = std::min(least, std::uint32_t{line[position / 2]} >> position % 2 * 4 & 15);
    }
    if (left <= slices_per_word) return least;
    word = mix64(word + hash.low);
  }
}

HWY_INLINE bool passes_at(const Word* line, Hash128 hash, std::uint32_t num_hashes, std::uint32_t theta) {
  return count_at(line, hash, num_hashes) >= theta;
}
#endif

/// For keys with `fixed_hashes` hashes, so that their loops are gone; if it is 0, with any number.
template <std::uint32_t fixed_hashes>
struct Operations {
  static HWY_INLINE std::uint32_t hashes(std::uint32_t num_hashes) {
    return fixed_hashes != 0 ? fixed_hashes : num_hashes;
  }

  static HWY_ATTR InsertResult insert(Word* line, Hash128 hash, std::uint32_t num_hashes) {
    return insert_at(line, hash, hashes(num_hashes));
  }

  static HWY_ATTR RemoveResult remove(Word* line, Hash128 hash, std::uint32_t num_hashes) {
    return remove_at(line, hash, hashes(num_hashes));
  }

  static HWY_ATTR bool passes(const Word* line, Hash128 hash, std::uint32_t num_hashes, std::uint32_t theta) {
    return passes_at(line, hash, hashes(num_hashes), theta);
  }

  static HWY_ATTR std::uint32_t count(const Word* line, Hash128 hash, std::uint32_t num_hashes) {
    return count_at(line, hash, hashes(num_hashes));
  }

  static HWY_ATTR std::uint64_t insert_all(Word* words, const CounterSpot* spots, std::size_t num_keys,
                                           std::uint32_t num_hashes) {
    std::uint64_t num_saturated = 0;
    for (std::size_t i = 0; i < num_keys; ++i) {
      const auto& [first, low, high] = spots[i];
      num_saturated += insert_at(words + first, {low, high}, hashes(num_hashes)) == InsertResult::saturated;
    }
    return num_saturated;
  }

  static HWY_ATTR std::uint64_t remove_all(Word* words, const CounterSpot* spots, std::size_t num_keys,
                                           std::uint32_t num_hashes, RemoveResult* results) {
    std::uint64_t num_refused = 0;
    for (std::size_t i = 0; i < num_keys; ++i) {
      const auto& [first, low, high] = spots[i];
      results[i] = remove_at(words + first, {low, high}, hashes(num_hashes));
      num_refused += results[i] == RemoveResult::refused;
    }
    return num_refused;
  }

  static HWY_ATTR void passes_all(const Word* words, const CounterSpot* spots, std::size_t num_keys,
                                  std::uint32_t num_hashes, std::uint32_t theta, bool* results) {
    for (std::size_t i = 0; i < num_keys; ++i) {
      const auto& [first, low, high] = spots[i];
      results[i] = passes_at(words + first, {low, high}, hashes(num_hashes), theta);
    }
  }

  static HWY_ATTR void count_all(const Word* words, const CounterSpot* spots, std::size_t num_keys,
                                 std::uint32_t num_hashes, Count* results) {
    for (std::size_t i = 0; i < num_keys; ++i) {
      const auto& [first, low, high] = spots[i];
      const std::uint32_t least = count_at(words + first, {low, high}, hashes(num_hashes));
      results[i] = {least, least == 15};
    }
  }

  static constexpr CounterKernels kernels{insert,     remove,     passes,     count,
                                          insert_all, remove_all, passes_all, count_all};
};

/// The numbers of hashes that plans have most often have operations of their own.
const CounterKernels* counter_kernels_here(std::uint32_t num_hashes) {
  switch (num_hashes) {
    case 5:
      return &Operations<5>::kernels;
    case 6:
      return &Operations<6>::kernels;
    case 7:
      return &Operations<7>::kernels;
    case 8:
      return &Operations<8>::kernels;
    case 9:
      return &Operations<9>::kernels;
    default:
      return &Operations<0>::kernels;
  }
}

#else

const CounterKernels* counter_kernels_here(std::uint32_t) { return nullptr; }

#endif  // vectors

}  // namespace HWY_NAMESPACE
}  // namespace tally::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::detail {

HWY_EXPORT(counter_kernels_here);

const CounterKernels* counter_kernels(std::uint32_t counter_bits, std::uint32_t num_hashes) noexcept {
  if (counter_bits != 4 || num_hashes > most_hashes_of_counter_kernels) return nullptr;
  return HWY_DYNAMIC_DISPATCH(counter_kernels_here)(num_hashes);
}

}  // namespace tally::detail
#endif  // HWY_ONCE

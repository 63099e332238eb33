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

#if HWY_TARGET != HWY_SCALAR

using Word = std::uint64_t;
using Byte = unsigned char;
using Bytes = hn::CappedTag<Byte, 64>;
using ByteVector = hn::Vec<Bytes>;

constexpr std::size_t line_bytes = 64;
constexpr std::uint32_t slices_per_word = 4;
constexpr std::uint32_t slice_bits = 16;
constexpr std::uint32_t position_shift = 9;  // the position is the slice's 7 high bits

HWY_INLINE ByteVector load(const Byte* bytes) { return hn::Load(Bytes(), bytes); }

/// The place of the slice's increments in the table.
HWY_INLINE const Byte* increments_of(Word word, std::uint32_t slice) {
  const Word position = word >> (slice * slice_bits + position_shift) & 127;
  return nibble_increments.lines[position].data();
}

#if HWY_TARGET <= HWY_AVX3
// A line is one vector.
class Increments {
 public:
  HWY_INLINE Increments(Hash128 hash, std::uint32_t num_hashes) : sum_(hn::Zero(Bytes())) {
    Word word = hash.high;
    for (std::uint32_t left = num_hashes;; left -= slices_per_word) {
      const std::uint32_t num_slices = std::min(left, slices_per_word);
      for (std::uint32_t i = 0; i < num_slices; ++i) sum_ = hn::Add(sum_, load(increments_of(word, i)));
      if (left <= slices_per_word) break;
      word = mix64(word + hash.low);
    }
  }
  HWY_INLINE ByteVector from(std::size_t) const { return sum_; }

 private:
  ByteVector sum_;
};
#else
class Increments {
 public:
  HWY_INLINE Increments(Hash128 hash, std::uint32_t num_hashes) : num_hashes_(num_hashes) {
    Word word = hash.high;
    std::uint32_t count = 0;
    for (std::uint32_t left = num_hashes;; left -= slices_per_word) {
      const std::uint32_t num_slices = std::min(left, slices_per_word);
      for (std::uint32_t i = 0; i < num_slices; ++i) lines_[count++] = increments_of(word, i);
      if (left <= slices_per_word) break;
      word = mix64(word + hash.low);
    }
  }
  /// How much a key adds to the counters in the vector that begins at this byte.
  HWY_INLINE ByteVector from(std::size_t byte) const {
    ByteVector sum = load(lines_[0] + byte);
    for (std::uint32_t i = 1; i < num_hashes_; ++i) sum = hn::Add(sum, load(lines_[i] + byte));
    return sum;
  }

 private:
  std::array<const Byte*, most_hashes_of_counter_kernels> lines_;
  std::uint32_t num_hashes_;
};
#endif

/// The counters of a vector of bytes, those in the low and those in the high halves.
struct Halves {
  explicit HWY_INLINE Halves(ByteVector bytes)
      : low(hn::And(bytes, hn::Set(Bytes(), Byte{15}))), high(hn::And(bytes, hn::Set(Bytes(), Byte{240}))) {}

  ByteVector low;
  ByteVector high;
};

/// `chosen`, in the places of counters at their maximum; 0 elsewhere.
HWY_INLINE ByteVector where_saturated(ByteVector low, ByteVector high, const Halves& chosen) {
  const auto is_low = hn::Eq(low, hn::Set(Bytes(), Byte{15}));
  const auto is_high = hn::Eq(high, hn::Set(Bytes(), Byte{240}));
  return hn::Or(hn::IfThenElseZero(is_low, chosen.low), hn::IfThenElseZero(is_high, chosen.high));
}

HWY_INLINE bool has_any(ByteVector bytes) { return !hn::AllTrue(Bytes(), hn::Eq(bytes, hn::Zero(Bytes()))); }

HWY_INLINE InsertResult insert_at(Word* words, Hash128 hash, std::uint32_t num_hashes) {
  Byte* const line = reinterpret_cast<Byte*>(words);
  const Increments increments(hash, num_hashes);
  ByteVector saturated = hn::Zero(Bytes());
  for (std::size_t i = 0; i < line_bytes; i += hn::Lanes(Bytes())) {
    const Halves added(increments.from(i));
    const Halves old(load(line + i));
    const auto low = hn::Min(hn::Add(old.low, added.low), hn::Set(Bytes(), Byte{15}));
    const auto high = hn::And(hn::SaturatedAdd(old.high, added.high), hn::Set(Bytes(), Byte{240}));
    hn::Store(hn::Or(low, high), Bytes(), line + i);
    saturated = hn::Or(saturated, where_saturated(low, high, added));
  }
  return has_any(saturated) ? InsertResult::saturated : InsertResult::counted;
}

HWY_INLINE RemoveResult remove_at(Word* words, Hash128 hash, std::uint32_t num_hashes) {
  Byte* const line = reinterpret_cast<Byte*>(words);
  const Increments decrements(hash, num_hashes);
  alignas(64) std::array<Byte, line_bytes> changes;  // from the old line
  ByteVector saturated = hn::Zero(Bytes());
  ByteVector missing = hn::Zero(Bytes());
  const Halves ones(hn::Set(Bytes(), Byte{255}));
  for (std::size_t i = 0; i < line_bytes; i += hn::Lanes(Bytes())) {
    const auto bytes = load(line + i);
    const auto subtracted = decrements.from(i);
    const Halves old(bytes);
    const Halves own(subtracted);
    missing = hn::Or(missing, hn::Or(hn::SaturatedSub(own.low, old.low), hn::SaturatedSub(own.high, old.high)));
    const auto stuck = where_saturated(old.low, old.high, ones);
    saturated = hn::Or(saturated, hn::And(stuck, subtracted));
    hn::Store(hn::AndNot(stuck, subtracted), Bytes(), changes.data() + i);
  }
  const bool is_refused = has_any(missing);
  // Whether a key is refused is often unpredictable, so there is no branch.
  const auto kept = hn::Set(Bytes(), static_cast<Byte>(is_refused ? 0 : 255));
  for (std::size_t i = 0; i < line_bytes; i += hn::Lanes(Bytes())) {
    const auto change = hn::And(load(changes.data() + i), kept);
    hn::Store(hn::Sub(load(line + i), change), Bytes(), line + i);
  }
  const RemoveResult result = has_any(saturated) ? RemoveResult::saturated : RemoveResult::removed;
  return is_refused ? RemoveResult::refused : result;
}

#if HWY_TARGET <= HWY_AVX2
// A lane per position: a table lookup gives the 32 bits with its counter, and a shift the counter.
using Lanes32 = hn::CappedTag<std::uint32_t, 16>;
using Vector32 = hn::Vec<Lanes32>;

/// The 32-bit words of the line with these numbers, 0 to 15.
HWY_INLINE Vector32 words_at(const Byte* line, Vector32 numbers) {
  const Lanes32 tag;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(line);
#if HWY_TARGET <= HWY_AVX3
  return hn::TableLookupLanes(hn::Load(tag, words), hn::IndicesFromVec(tag, numbers));
#else
  const auto indices = hn::IndicesFromVec(tag, hn::And(numbers, hn::Set(tag, 7)));
  const auto lower = hn::TableLookupLanes(hn::Load(tag, words), indices);
  const auto upper = hn::TableLookupLanes(hn::Load(tag, words + 8), indices);
  return hn::IfThenElse(hn::Eq(hn::ShiftRight<3>(numbers), hn::Zero(tag)), lower, upper);
#endif
}

/// The counters at the positions of these slices; 15 in the lanes from `count` on.
HWY_INLINE Vector32 counters_at(const Byte* line, Vector32 slices, std::uint32_t count) {
  const Lanes32 tag;
  const auto shifts = hn::And(hn::ShiftRight<7>(slices), hn::Set(tag, 28));
  const auto counters = hn::And(hn::Shr(words_at(line, hn::ShiftRight<12>(slices)), shifts), hn::Set(tag, 15));
  return hn::IfThenElse(hn::FirstN(tag, count), counters, hn::Set(tag, 15));
}

/// Lanes with the counters of a key, and 15 in the lanes without one.
HWY_INLINE Vector32 counters_of(const Word* words, Hash128 hash, std::uint32_t num_hashes) {
  const Byte* const line = reinterpret_cast<const Byte*>(words);
  const Word first = hash.high;
  const Word second = num_hashes > 4 ? mix64(first + hash.low) : 0;
#if HWY_TARGET <= HWY_AVX3
  __m256i slices = _mm256_zextsi128_si256(_mm_set_epi64x(static_cast<long long>(second), static_cast<long long>(first)));
  if (num_hashes > 8) {
    const Word third = mix64(second + hash.low);
    const Word fourth = num_hashes > 12 ? mix64(third + hash.low) : 0;
    slices = _mm256_inserti128_si256(
        slices, _mm_set_epi64x(static_cast<long long>(fourth), static_cast<long long>(third)), 1);
  }
  return counters_at(line, Vector32{_mm512_cvtepu16_epi32(slices)}, num_hashes);
#else
  const auto slices_in = [](Word low, Word high) HWY_ATTR {
    return Vector32{_mm256_cvtepu16_epi32(
        _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low)))};
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

HWY_ATTR InsertResult insert(Word* line, Hash128 hash, std::uint32_t num_hashes) {
  return insert_at(line, hash, num_hashes);
}

HWY_ATTR RemoveResult remove(Word* line, Hash128 hash, std::uint32_t num_hashes) {
  return remove_at(line, hash, num_hashes);
}

HWY_ATTR bool passes(const Word* line, Hash128 hash, std::uint32_t num_hashes, std::uint32_t theta) {
  return passes_at(line, hash, num_hashes, theta);
}

HWY_ATTR std::uint32_t count(const Word* line, Hash128 hash, std::uint32_t num_hashes) {
  return count_at(line, hash, num_hashes);
}

HWY_ATTR std::uint64_t insert_all(Word* words, const CounterSpot* spots, std::size_t num_keys,
                                  std::uint32_t num_hashes) {
  std::uint64_t num_saturated = 0;
  for (std::size_t i = 0; i < num_keys; ++i) {
    const auto& [first, low, high] = spots[i];
    num_saturated +=
        insert_at(words + first, {low, high}, num_hashes) == InsertResult::saturated;
  }
  return num_saturated;
}

HWY_ATTR std::uint64_t remove_all(Word* words, const CounterSpot* spots, std::size_t num_keys,
                                  std::uint32_t num_hashes, RemoveResult* results) {
  std::uint64_t num_refused = 0;
  for (std::size_t i = 0; i < num_keys; ++i) {
    const auto& [first, low, high] = spots[i];
    results[i] = remove_at(words + first, {low, high}, num_hashes);
    num_refused += results[i] == RemoveResult::refused;
  }
  return num_refused;
}

HWY_ATTR void passes_all(const Word* words, const CounterSpot* spots, std::size_t num_keys,
                         std::uint32_t num_hashes, std::uint32_t theta, bool* results) {
  for (std::size_t i = 0; i < num_keys; ++i) {
    const auto& [first, low, high] = spots[i];
    results[i] = passes_at(words + first, {low, high}, num_hashes, theta);
  }
}

HWY_ATTR void count_all(const Word* words, const CounterSpot* spots, std::size_t num_keys,
                        std::uint32_t num_hashes, Count* results) {
  for (std::size_t i = 0; i < num_keys; ++i) {
    const auto& [first, low, high] = spots[i];
    const std::uint32_t least = count_at(words + first, {low, high}, num_hashes);
    results[i] = {least, least == 15};
  }
}

constexpr CounterKernels counter_kernels_of_set{insert,     remove,     passes,     count,
                                                insert_all, remove_all, passes_all, count_all};

const CounterKernels* counter_kernels_here() { return &counter_kernels_of_set; }

#else

const CounterKernels* counter_kernels_here() { return nullptr; }

#endif  // vectors

}  // namespace HWY_NAMESPACE
}  // namespace tally::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::detail {

HWY_EXPORT(counter_kernels_here);

const CounterKernels* counter_kernels(std::uint32_t counter_bits, std::uint32_t num_hashes) noexcept {
  if (counter_bits != 4 || num_hashes > most_hashes_of_counter_kernels) return nullptr;
  return HWY_DYNAMIC_DISPATCH(counter_kernels_here)();
}

}  // namespace tally::detail
#endif  // HWY_ONCE

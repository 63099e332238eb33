#include "tally/detail/batches/register_kernels.hpp"

#include "tally/hashing/mix64.hpp"

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/batches/register_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint32_t num_words = 8;
constexpr std::uint32_t slice_bits = 6;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

// One lane per word of the line: one register with AVX-512, two with AVX2.
using Tag = hn::CappedTag<std::uint64_t, num_words>;
using Vector = hn::Vec<Tag>;
constexpr std::size_t num_lanes = HWY_LANES(std::uint64_t) < num_words ? HWY_LANES(std::uint64_t) : num_words;
constexpr std::size_t num_vectors = num_words / num_lanes;

struct LineBits {
  Vector vectors[num_vectors];
};

HWY_INLINE HWY_ATTR LineBits load_line(const std::uint64_t* line) {
  LineBits loaded;
  for (std::size_t v = 0; v < num_vectors; ++v) loaded.vectors[v] = hn::Load(Tag(), line + v * num_lanes);
  return loaded;
}

/// The bit that each word takes from its slice of `draw`.
HWY_INLINE HWY_ATTR LineBits bits_of_draw(std::uint64_t draw) {
  const Tag tag;
  LineBits bits;
  for (std::size_t v = 0; v < num_vectors; ++v) {
    const auto shifts =
        hn::Mul(hn::Iota(tag, v * num_lanes), hn::Set(tag, slice_bits));  // constants once compiled
    const auto places = hn::And(hn::Shr(hn::Set(tag, draw), shifts), hn::Set(tag, 63));
    bits.vectors[v] = hn::Shl(hn::Set(tag, 1), places);
  }
  return bits;
}

HWY_INLINE HWY_ATTR void add(LineBits& bits, const LineBits& more) {
  for (std::size_t v = 0; v < num_vectors; ++v) bits.vectors[v] = hn::Or(bits.vectors[v], more.vectors[v]);
}

HWY_INLINE HWY_ATTR void store_line(const LineBits& bits, std::uint64_t* line) {
  for (std::size_t v = 0; v < num_vectors; ++v) hn::Store(bits.vectors[v], Tag(), line + v * num_lanes);
}

HWY_INLINE HWY_ATTR bool has_all(const LineBits& line, const LineBits& bits) {
  auto missing = hn::AndNot(line.vectors[0], bits.vectors[0]);
  for (std::size_t v = 1; v < num_vectors; ++v)
    missing = hn::Or(missing, hn::AndNot(line.vectors[v], bits.vectors[v]));
  return hn::AllTrue(Tag(), hn::Eq(missing, hn::Zero(Tag())));
}

#else

struct LineBits {
  std::uint64_t words[num_words];
};

HWY_INLINE HWY_ATTR LineBits load_line(const std::uint64_t* line) {
  LineBits loaded;
  for (std::uint32_t w = 0; w < num_words; ++w) loaded.words[w] = line[w];
  return loaded;
}

HWY_INLINE HWY_ATTR LineBits bits_of_draw(std::uint64_t draw) {
  LineBits bits;
  for (std::uint32_t w = 0; w < num_words; ++w)
    bits.words[w] = std::uint64_t{1} << (draw >> (slice_bits * w) & 63);
  return bits;
}

HWY_INLINE HWY_ATTR void add(LineBits& bits, const LineBits& more) {
  for (std::uint32_t w = 0; w < num_words; ++w) bits.words[w] |= more.words[w];
}

HWY_INLINE HWY_ATTR void store_line(const LineBits& bits, std::uint64_t* line) {
  for (std::uint32_t w = 0; w < num_words; ++w) line[w] = bits.words[w];
}

HWY_INLINE HWY_ATTR bool has_all(const LineBits& line, const LineBits& bits) {
  std::uint64_t missing = 0;
  for (std::uint32_t w = 0; w < num_words; ++w) missing |= bits.words[w] & ~line.words[w];
  return missing == 0;
}

#endif

/// The key's positions as bits of its line.
template <bool one_draw>
HWY_INLINE HWY_ATTR LineBits bits_of(std::uint64_t low, std::uint64_t high, std::uint32_t num_hashes) {
  LineBits bits = bits_of_draw(high);
  if constexpr (one_draw) return bits;
  std::uint64_t draw = high;
  for (std::uint32_t left = num_hashes - num_words; left > 0; left -= num_words) {
    draw = mix64(draw + low);
    add(bits, bits_of_draw(draw));
  }
  return bits;
}

template <bool one_draw>
struct Kernels {
  static HWY_ATTR void insert(std::uint64_t* line, Hash128 digest, std::uint32_t num_hashes) {
    LineBits bits = bits_of<one_draw>(digest.low, digest.high, num_hashes);
    add(bits, load_line(line));
    store_line(bits, line);
  }

  static HWY_ATTR bool contains(const std::uint64_t* line, Hash128 digest, std::uint32_t num_hashes) {
    return has_all(load_line(line), bits_of<one_draw>(digest.low, digest.high, num_hashes));
  }

  static HWY_ATTR bool test_and_insert(std::uint64_t* line, Hash128 digest, std::uint32_t num_hashes) {
    LineBits bits = bits_of<one_draw>(digest.low, digest.high, num_hashes);
    const LineBits before = load_line(line);
    const bool had_all = has_all(before, bits);
    add(bits, before);
    store_line(bits, line);
    return had_all;
  }

  static HWY_ATTR void insert_batch(std::uint64_t* const* lines, const std::uint64_t* low,
                                    const std::uint64_t* high, std::uint32_t num_hashes,
                                    std::size_t num_keys) {
    for (std::size_t i = 0; i < num_keys; ++i) {
      LineBits bits = bits_of<one_draw>(low[i], high[i], num_hashes);
      add(bits, load_line(lines[i]));
      store_line(bits, lines[i]);
    }
  }

  static HWY_ATTR void contains_batch(const std::uint64_t* const* lines, const std::uint64_t* low,
                                      const std::uint64_t* high, std::uint32_t num_hashes,
                                      std::size_t num_keys, bool* results) {
    for (std::size_t i = 0; i < num_keys; ++i)
      results[i] = has_all(load_line(lines[i]), bits_of<one_draw>(low[i], high[i], num_hashes));
  }

  static constexpr RegisterKernels all{insert, contains, test_and_insert, insert_batch, contains_batch};
};

const RegisterKernels* register_kernels_here(std::uint32_t num_hashes) {
  return num_hashes == num_words ? &Kernels<true>::all : &Kernels<false>::all;
}

}  // namespace HWY_NAMESPACE
}  // namespace tally::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::detail {

HWY_EXPORT(register_kernels_here);

const RegisterKernels& register_kernels(std::uint32_t num_hashes) noexcept {
  return *HWY_DYNAMIC_DISPATCH(register_kernels_here)(num_hashes);
}

}  // namespace tally::detail
#endif  // HWY_ONCE

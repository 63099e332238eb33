#include "tally/detail/batches/blocked_kernels.hpp"

#include <algorithm>

#include "tally/hashing/mix64.hpp"

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/batches/blocked_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3

constexpr std::size_t words_per_line = 8;
constexpr std::uint32_t slice_bits = 9;
constexpr std::uint32_t slices_per_word = 7;

// One lane per slice of the digest; a table lookup gives its word of the line, and a shift its bit.
HWY_ATTR void test_lines(const std::uint64_t* const* lines, const std::uint64_t* low,
                         const std::uint64_t* high, std::uint32_t num_hashes, std::size_t num_keys,
                         bool* results) {
  const hn::CappedTag<std::uint64_t, words_per_line> tag;
  const auto shifts = hn::Mul(hn::Iota(tag, 0), hn::Set(tag, slice_bits));
  const auto slice_mask = hn::Set(tag, (1u << slice_bits) - 1);
  const auto bit_mask = hn::Set(tag, 63);
  const auto one = hn::Set(tag, 1);
  for (std::size_t i = 0; i < num_keys; ++i) {
    const auto line = hn::Load(tag, lines[i]);
    std::uint64_t word = high[i];
    bool all = true;
    for (std::uint32_t left = num_hashes;;) {
      const std::uint32_t num_slices = std::min(left, slices_per_word);
      const auto positions = hn::And(hn::Shr(hn::Set(tag, word), shifts), slice_mask);
      const auto words = hn::TableLookupLanes(line, hn::IndicesFromVec(tag, hn::ShiftRight<6>(positions)));
      const auto bits = hn::And(hn::Shr(words, hn::And(positions, bit_mask)), one);
      const auto is_clear = hn::And(hn::Eq(bits, hn::Zero(tag)), hn::FirstN(tag, num_slices));
      all &= hn::AllFalse(tag, is_clear);
      if (left <= slices_per_word) break;
      left -= slices_per_word;
      word = mix64(word + low[i]);
    }
    results[i] = all;
  }
}

TestLines line_test_here() { return test_lines; }

#else

TestLines line_test_here() { return nullptr; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace tally::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::detail {

HWY_EXPORT(line_test_here);

TestLines blocked_line_test() noexcept { return HWY_DYNAMIC_DISPATCH(line_test_here)(); }

}  // namespace tally::detail
#endif  // HWY_ONCE

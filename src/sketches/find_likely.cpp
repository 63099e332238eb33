#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/prefetch.hpp"
#include "tally/sketches/counted_keys.hpp"

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sketches/find_likely.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A search ends at the first slot that is empty or has the key's tag. Looks at eight slots at once, because a branch for each
/// would often be mispredicted.
HWY_ATTR void find_likely_here(std::span<const std::uint64_t> slots, std::uint32_t shift,
                               std::span<const std::uint64_t> salted, std::span<std::uint32_t> entries) {
  constexpr std::size_t num_at_once = 8;
  constexpr std::uint64_t tag_mask = ~std::uint64_t{0} << 32;
  const hn::CappedTag<std::uint64_t, num_at_once> words;
  for (std::size_t k = 0; k < salted.size(); ++k) {
    const std::uint64_t tag = salted[k] & tag_mask;
    std::size_t at = salted[k] >> shift;
    unsigned ends = 0;
    if (at + num_at_once <= slots.size()) {
      for (std::size_t i = 0; i < num_at_once; i += hn::Lanes(words)) {
        const auto own = hn::LoadU(words, slots.data() + at + i);
        const auto has_tag = hn::Eq(hn::And(own, hn::Set(words, tag_mask)), hn::Set(words, tag));
        std::array<std::uint8_t, 8> bits{};
        hn::StoreMaskBits(words, hn::Or(has_tag, hn::Eq(own, hn::Zero(words))), bits.data());
        ends |= unsigned{bits[0]} << i;
      }
    }
    if (ends != 0) {
      at += static_cast<unsigned>(std::countr_zero(ends));
    } else {
      while (slots[at] != 0 && (slots[at] & tag_mask) != tag) at = (at + 1) & (slots.size() - 1);
    }
    entries[k] = static_cast<std::uint32_t>(slots[at]) - 1;  // of an empty slot: none
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tally
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally {

HWY_EXPORT(find_likely_here);

void CountedKeys::find_likely(std::span<const std::uint64_t> salted,
                              std::span<std::uint32_t> entries) const noexcept {
  HWY_DYNAMIC_DISPATCH(find_likely_here)(slots_, shift_, salted, entries);
  for (const std::uint32_t i : entries) detail::prefetch_for_read(entries_.data() + (i == none ? 0 : i));
}

}  // namespace tally
#endif  // HWY_ONCE

#include "input/find_bytes.hpp"

#include <bit>

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "input/find_bytes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::cli {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t block_bytes = 64;

/// Bit i: whether byte i of the block is `wanted`.
HWY_ATTR std::uint64_t matches(const std::uint8_t* block, std::uint8_t wanted) {
  const hn::CappedTag<std::uint8_t, block_bytes> tag;
  const auto all_wanted = hn::Set(tag, wanted);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < block_bytes; i += hn::Lanes(tag)) {
    // Whole bytes are stored: with fewer than 8 lanes, into a separate word.
    std::uint64_t bits = 0;
    hn::StoreMaskBits(tag, hn::Eq(hn::LoadU(tag, block + i), all_wanted),
                      reinterpret_cast<std::uint8_t*>(&bits));
    word |= bits << i;
  }
  return word;
}

HWY_ATTR FoundBytes find_bytes_here(std::span<const char> bytes, char wanted,
                                    std::span<std::uint32_t> offsets) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto wanted_byte = static_cast<std::uint8_t>(wanted);
  std::size_t num_found = 0;
  std::size_t at = 0;
  for (; at + block_bytes <= bytes.size(); at += block_bytes) {
    if (num_found + block_bytes > offsets.size()) return {num_found, at};
    std::uint64_t bits = matches(data + at, wanted_byte);
    std::uint32_t* to = offsets.data() + num_found;
    num_found += static_cast<std::size_t>(std::popcount(bits));
    const auto write_next = [&] {
      *to++ = static_cast<std::uint32_t>(at + static_cast<std::size_t>(std::countr_zero(bits)));
      bits &= bits - 1;
    };
    // Writes a few offsets without testing how many there are, which would be unpredictable; surplus ones are
    // overwritten.
    for (int i = 0; i < 4; ++i) write_next();
    while (bits != 0) write_next();
  }
  if (num_found + block_bytes > offsets.size()) return {num_found, at};
  for (; at < bytes.size(); ++at) {
    if (data[at] == wanted_byte) offsets[num_found++] = static_cast<std::uint32_t>(at);
  }
  return {num_found, at};
}

}  // namespace HWY_NAMESPACE
}  // namespace tally::cli
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::cli {

HWY_EXPORT(find_bytes_here);

FoundBytes find_bytes(std::span<const char> bytes, char wanted, std::span<std::uint32_t> offsets) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_bytes_here)(bytes, wanted, offsets);
}

}  // namespace tally::cli
#endif  // HWY_ONCE

#pragma once

namespace tally::detail {

/// Asks the processor to load the 64-byte line of `address` into its cache; never faults.
/// The statement after it is for g++, which takes a function that only prefetches for one without effect, and leaves out calls
/// of it that it does not inline.
inline void prefetch_for_read(const void* address) noexcept {
  __builtin_prefetch(address, 0);
  asm volatile("");
}
inline void prefetch_for_write(const void* address) noexcept {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace tally::detail

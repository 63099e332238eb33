#pragma once

namespace tally::detail {

/// Asks the processor to load the 64-byte line of `address` into its cache; never faults.
inline void prefetch_for_read(const void* address) noexcept { __builtin_prefetch(address, 0); }
inline void prefetch_for_write(const void* address) noexcept { __builtin_prefetch(address, 1); }

}  // namespace tally::detail

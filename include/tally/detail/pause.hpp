#pragma once

namespace tally::detail {

/// Tells the processor that this thread looks again and again for what another one changes.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace tally::detail

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tally/memory.hpp"

namespace tally::test {

/// While it lives, all words come from it: it counts their bytes, and can be out of memory.
class CountingMemory {
 public:
  CountingMemory() {
    held_ = peak_ = 0;
    limit_ = ~std::uint64_t{0};
    set_memory_source({allocate, deallocate});
  }
  CountingMemory(const CountingMemory&) = delete;
  CountingMemory& operator=(const CountingMemory&) = delete;
  ~CountingMemory() { set_memory_source({}); }

  static std::uint64_t num_bytes() noexcept { return held_; }
  /// The most that were held at a time.
  static std::uint64_t peak_bytes() noexcept { return peak_; }
  static void refuse_beyond(std::uint64_t limit) noexcept { limit_ = limit; }

 private:
  static void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (held_ + size > limit_) return nullptr;
    held_ += size;
    peak_ = std::max(peak_, held_);
    return std::aligned_alloc(alignment, size);
  }
  static void deallocate(void* memory, std::size_t size) noexcept {
    held_ -= size;
    std::free(memory);
  }

  static inline std::uint64_t held_ = 0;
  static inline std::uint64_t peak_ = 0;
  static inline std::uint64_t limit_ = ~std::uint64_t{0};
};

}  // namespace tally::test

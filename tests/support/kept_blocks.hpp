#pragma once

#include <cstddef>
#include <cstdlib>
#include <map>
#include <vector>

#include "tally/memory.hpp"

namespace tally::test {

/// While it exists, the words of structures come from blocks that are kept when they are freed, for tests of one thread
/// that copy a small structure millions of times: to get a block from the kernel and to return it takes ten times as long
/// as to fill it.
class KeptBlocks {
 public:
  KeptBlocks() { set_memory_source({allocate, deallocate}); }
  ~KeptBlocks() { set_memory_source({}); }
  KeptBlocks(const KeptBlocks&) = delete;
  KeptBlocks& operator=(const KeptBlocks&) = delete;

 private:
  struct Free {
    ~Free() {
      for (const auto& [num_bytes, blocks] : by_size) {
        for (void* const block : blocks) std::free(block);
      }
    }
    std::map<std::size_t, std::vector<void*>> by_size;
  };
  static Free& free_blocks() {
    static Free all;
    return all;
  }

  static void* allocate(std::size_t num_bytes, std::size_t alignment) noexcept {
    std::vector<void*>& blocks = free_blocks().by_size[num_bytes];
    if (blocks.empty()) return std::aligned_alloc(alignment, num_bytes);
    void* const block = blocks.back();
    blocks.pop_back();
    return block;
  }
  static void deallocate(void* memory, std::size_t num_bytes) noexcept {
    free_blocks().by_size[num_bytes].push_back(memory);
  }
};

}  // namespace tally::test

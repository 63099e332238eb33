#include "server_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "redis_module_api.hpp"
#include "tally/memory.hpp"

namespace tally::redis {
namespace {

/// For what is allocated before the functions of the server are known. Nothing in it is ever freed.
struct EarlyMemory {
  alignas(std::max_align_t) std::array<std::byte, std::size_t{16} << 10> bytes{};
  std::size_t num_used = 0;

  void* allocate(std::size_t num_bytes) noexcept {
    const std::size_t start = (num_used + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
    if (start > bytes.size() || num_bytes > bytes.size() - start) return nullptr;
    num_used = start + num_bytes;
    return bytes.data() + start;
  }
  bool has(const void* memory) const noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(bytes.data()) <
           bytes.size();
  }
};

constinit EarlyMemory early;

void* reserved = nullptr;  // of a ReservedMemory

void* allocate_at_server(std::size_t num_bytes) noexcept {
  // The server ends itself where the first function has no memory, so the second one is better.
  return api::try_allocate != nullptr ? api::try_allocate(num_bytes) : api::allocate(num_bytes);
}

void* allocate(std::size_t num_bytes) noexcept {
  if (api::allocate == nullptr) return early.allocate(num_bytes);
  void* const memory = allocate_at_server(num_bytes);
  if (memory != nullptr || reserved == nullptr) return memory;
  api::free_bytes(std::exchange(reserved, nullptr));
  return allocate_at_server(num_bytes);
}

void deallocate(void* memory) noexcept {
  if (memory != nullptr && !early.has(memory)) api::free_bytes(memory);
}

/// Larger alignments than the server gives: the pointer to free stands before the block.
void* allocate_aligned(std::size_t num_bytes, std::size_t alignment) noexcept {
  std::size_t total = 0;
  if (__builtin_add_overflow(num_bytes, alignment + sizeof(void*), &total)) return nullptr;
  void* const memory = allocate(total);
  if (memory == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(memory) + sizeof(void*) + alignment - 1;
  void** const block = reinterpret_cast<void**>(address & ~(alignment - 1));
  block[-1] = memory;
  return block;
}

void deallocate_aligned(void* block) noexcept {
  if (block != nullptr) deallocate(static_cast<void**>(block)[-1]);
}

void* allocate_or_throw(std::size_t num_bytes) {
  void* const memory = allocate(num_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// jemalloc has four size classes per power of two: a block of 64 MiB and a few bytes would count as 80 MiB. It aligns
// large blocks to lines by itself, and so they need no more bytes. Other allocators do not align them, and have no
// classes of that size.

constexpr std::size_t line_bytes = 64;
constexpr std::size_t large_from_bytes = std::size_t{64} << 10;
bool aligns_large_blocks = false;

bool is_aligned(const void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory) % line_bytes == 0;
}

bool server_aligns_large_blocks() noexcept {
  bool is_always = true;
  for (const std::size_t num_bytes : {large_from_bytes, 3 * large_from_bytes, 17 * large_from_bytes}) {
    void* const memory = allocate(num_bytes);
    is_always = is_always && memory != nullptr && is_aligned(memory);
    deallocate(memory);
  }
  return is_always;
}

bool is_direct(std::size_t num_bytes) noexcept {
  return aligns_large_blocks && num_bytes >= large_from_bytes;
}

/// Gives the pages of a large block back to the kernel, which are then zeros when they are next touched: to write 256 MiB
/// of zeros takes a hundred milliseconds.
void clear(void* memory, std::size_t num_bytes) noexcept {
  constexpr std::size_t pages_from_bytes = std::size_t{1} << 20;
#ifdef __linux__
  constexpr bool clears_pages = true;
#else
  constexpr bool clears_pages = false;  // elsewhere, MADV_DONTNEED may keep the contents
#endif
  if (!clears_pages || num_bytes < pages_from_bytes) {
    std::memset(memory, 0, num_bytes);
    return;
  }
  static const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const bytes = static_cast<std::byte*>(memory);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) & (page_bytes - 1);
  const std::size_t paged = (num_bytes - before) & ~(page_bytes - 1);
  std::memset(bytes, 0, before);
  if (madvise(bytes + before, paged, MADV_DONTNEED) != 0)
    std::memset(bytes + before, 0, paged);  // locked pages
  std::memset(bytes + before + paged, 0, num_bytes - before - paged);
}

void* find_words(std::size_t num_bytes, std::size_t alignment) noexcept {
  if (!is_direct(num_bytes)) return allocate_aligned(num_bytes, alignment);
  void* const memory = allocate(num_bytes);
  if (memory == nullptr || is_aligned(memory)) return memory;
  // An allocator that aligns only most blocks: no memory is better than the wrong pointer freed.
  deallocate(memory);
  return nullptr;
}

void* allocate_words(std::size_t num_bytes, std::size_t alignment) noexcept {
  void* const memory = find_words(num_bytes, alignment);
  if (memory != nullptr) clear(memory, num_bytes);
  return memory;
}

void deallocate_words(void* memory, std::size_t num_bytes) noexcept {
  if (is_direct(num_bytes)) {
    deallocate(memory);
  } else {
    deallocate_aligned(memory);
  }
}

}  // namespace

ReservedMemory::ReservedMemory(std::uint64_t num_bytes) {
  reserved = allocate_at_server(num_bytes);
  if (reserved == nullptr) throw std::bad_alloc();
}

ReservedMemory::~ReservedMemory() {
  if (reserved != nullptr) api::free_bytes(std::exchange(reserved, nullptr));
}

void use_server_memory() {
  aligns_large_blocks = server_aligns_large_blocks();
  set_memory_source({allocate_words, deallocate_words, true});
}

}  // namespace tally::redis

namespace memory = tally::redis;

// All forms. The module contains the standard library, so nothing that these return is freed by those of another one.
void* operator new(std::size_t num_bytes) { return memory::allocate_or_throw(num_bytes); }
void* operator new[](std::size_t num_bytes) { return memory::allocate_or_throw(num_bytes); }
void* operator new(std::size_t num_bytes, const std::nothrow_t&) noexcept {
  return memory::allocate(num_bytes);
}
void* operator new[](std::size_t num_bytes, const std::nothrow_t&) noexcept {
  return memory::allocate(num_bytes);
}
void* operator new(std::size_t num_bytes, std::align_val_t alignment) {
  void* const block = memory::allocate_aligned(num_bytes, static_cast<std::size_t>(alignment));
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](std::size_t num_bytes, std::align_val_t alignment) {
  return operator new(num_bytes, alignment);
}
void* operator new(std::size_t num_bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return memory::allocate_aligned(num_bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t num_bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return memory::allocate_aligned(num_bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { memory::deallocate(block); }
void operator delete[](void* block) noexcept { memory::deallocate(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { memory::deallocate(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { memory::deallocate(block); }
void operator delete(void* block, std::size_t) noexcept { memory::deallocate(block); }
void operator delete[](void* block, std::size_t) noexcept { memory::deallocate(block); }
void operator delete(void* block, std::align_val_t) noexcept { memory::deallocate_aligned(block); }
void operator delete[](void* block, std::align_val_t) noexcept { memory::deallocate_aligned(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  memory::deallocate_aligned(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  memory::deallocate_aligned(block);
}
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  memory::deallocate_aligned(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  memory::deallocate_aligned(block);
}

#include "failing_allocation.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

thread_local bool is_on = false;
thread_local std::uint64_t num_seen = 0;
thread_local std::uint64_t num_bytes_seen = 0;
thread_local std::uint64_t refused_request = 0;
thread_local bool has_refused = false;

/// Says in the end how much was tried.
struct Total {
  ~Total() {
    std::printf("%llu requests for memory were refused\n", static_cast<unsigned long long>(num_refused));
  }
  std::uint64_t num_refused = 0;
} total;

bool is_refused(std::size_t num_bytes) noexcept {
  if (!is_on) return false;
  num_bytes_seen += num_bytes;
  if (num_seen++ != refused_request) return false;
  has_refused = true;
  ++total.num_refused;
  return true;
}

void* allocate(std::size_t num_bytes, std::size_t alignment) noexcept {
  if (is_refused(num_bytes)) return nullptr;
  const std::size_t size = (num_bytes + alignment) / alignment * alignment;  // above 0
  return alignment <= alignof(std::max_align_t) ? std::malloc(size) : ::aligned_alloc(alignment, size);
}

void* allocate_or_throw(std::size_t num_bytes, std::size_t alignment) {
  void* const memory = allocate(num_bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace tally::test {

FailingAllocation::FailingAllocation(std::uint64_t which) noexcept {
  has_refused = false;
  num_seen = 0;
  num_bytes_seen = 0;
  refused_request = which;
  is_on = true;
}
FailingAllocation::~FailingAllocation() { is_on = false; }
bool FailingAllocation::has_failed() noexcept { return has_refused; }
std::uint64_t FailingAllocation::num_requests() noexcept { return num_seen; }
std::uint64_t FailingAllocation::num_bytes() noexcept { return num_bytes_seen; }

}  // namespace tally::test

// All forms: of those that are left out a sanitizer takes its own.
void* operator new(std::size_t num_bytes) { return allocate_or_throw(num_bytes, 1); }
void* operator new[](std::size_t num_bytes) { return allocate_or_throw(num_bytes, 1); }
void* operator new(std::size_t num_bytes, const std::nothrow_t&) noexcept { return allocate(num_bytes, 1); }
void* operator new[](std::size_t num_bytes, const std::nothrow_t&) noexcept { return allocate(num_bytes, 1); }
void* operator new(std::size_t num_bytes, std::align_val_t alignment) {
  return allocate_or_throw(num_bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// The linker hands these what the library asks the C library for, and finds the originals by the other names.
extern "C" {
void* __real_aligned_alloc(std::size_t alignment, std::size_t num_bytes);
void* __real_mmap(void* address, std::size_t num_bytes, int protection, int flags, int file, off_t offset);

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t num_bytes) {
  return is_refused(num_bytes) ? nullptr : __real_aligned_alloc(alignment, num_bytes);
}

void* __wrap_mmap(void* address, std::size_t num_bytes, int protection, int flags, int file, off_t offset) {
  if (!is_refused((flags & MAP_ANONYMOUS) != 0 ? num_bytes : 0))
    return __real_mmap(address, num_bytes, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
}

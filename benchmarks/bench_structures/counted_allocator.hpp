#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tally::bench {

/// Takes memory from malloc and adds what malloc takes for it to a sum: that is what a hash table really allocates.
template <class T>
class CountedAllocator {
 public:
  using value_type = T;

  explicit CountedAllocator(std::uint64_t& num_bytes) noexcept : num_bytes_(&num_bytes) {}
  template <class Other>
  CountedAllocator(const CountedAllocator<Other>& other) noexcept : num_bytes_(other.num_bytes()) {}

  T* allocate(std::size_t count) {
    void* memory = std::malloc(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    *num_bytes_ += taken_by(memory);
    return static_cast<T*>(memory);
  }
  // Inline, g++ 12 warns that a table without elements would free a constant.
  [[gnu::noinline]] void deallocate(T* memory, std::size_t) noexcept {
    *num_bytes_ -= taken_by(memory);
    std::free(memory);
  }

  std::uint64_t* num_bytes() const noexcept { return num_bytes_; }
  friend bool operator==(const CountedAllocator&, const CountedAllocator&) = default;

 private:
  static constexpr std::size_t header_bytes = 8;  // of glibc, before each block
  static std::size_t taken_by(void* memory) noexcept { return malloc_usable_size(memory) + header_bytes; }

  std::uint64_t* num_bytes_;
};

}  // namespace tally::bench

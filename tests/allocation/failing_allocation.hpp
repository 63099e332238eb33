#pragma once

#include <cstdint>

namespace tally::test {

/// While it lives, one request of this thread for memory is refused: number `which`, from 0 on.
///
/// Requests are those of operator new, and those that the library makes of the C library for words: aligned_alloc
/// and mmap. The program that uses it is linked with its own operator new and with --wrap (tests/CMakeLists.txt).
class FailingAllocation {
 public:
  explicit FailingAllocation(std::uint64_t which) noexcept;
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  /// Whether there were enough requests for one to be refused.
  static bool has_failed() noexcept;
  /// Requests of this thread since it was made, the refused one too.
  static std::uint64_t num_requests() noexcept;
  /// The bytes of these requests, but not of mapped files.
  static std::uint64_t num_bytes() noexcept;
};

}  // namespace tally::test

#pragma once

#include <cstdint>

namespace tally::redis {

/// From now on, the words of all structures come from the server, and so `maxmemory`, `INFO memory` and the server's
/// statistics see them. The operators new and delete of the module do the same, from the moment when the functions of the
/// server are known. Where the server has no memory, std::bad_alloc is thrown.
void use_server_memory();

/// Memory for a step that must not stop halfway. While one exists, the module's allocations do not fail until they have
/// used up as many bytes: where the server has no memory, these are given back to it first.
class ReservedMemory {
 public:
  /// There is at most one at a time. Throws std::bad_alloc.
  explicit ReservedMemory(std::uint64_t num_bytes);
  ~ReservedMemory();
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;
};

}  // namespace tally::redis

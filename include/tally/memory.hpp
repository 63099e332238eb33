#pragma once

#include <cstddef>

#include "tally/export.hpp"

namespace tally {

/// Where the words of structures come from: two functions of the host, for programs that account for their memory.
///
/// The words are what is large: bits, counters, cells, lines and side tables, and the sets of digests. They go through
/// these functions whatever their size. Everything else goes through operator new: the candidates of TopKeys and
/// SpaceSaving with the bytes of their keys, the peers of a SummarySet, and what `serialize` and messages return. A host
/// that must see these bytes too replaces operator new.
struct MemorySource {
  /// Returns `num_bytes` (at least 64, a multiple of 64) at a multiple of `alignment` (64), or nullptr if there is not
  /// enough memory; the caller then throws std::bad_alloc. Unless `gives_zeros`, the contents do not matter: they are
  /// overwritten with zeros.
  void* (*allocate)(std::size_t num_bytes, std::size_t alignment) noexcept = nullptr;

  /// Frees what `allocate` has returned for the same `num_bytes`.
  void (*deallocate)(void* memory, std::size_t num_bytes) noexcept = nullptr;

  /// Whether all bytes that `allocate` returns are 0. A host that has zeros from the kernel saves a pass over the memory.
  bool gives_zeros = false;

  friend bool operator==(const MemorySource&, const MemorySource&) = default;
};

/// All words that are allocated from now on, in the whole process, come from this source; words that exist already go
/// back to where they came from. A source without functions is the default: blocks below 4 MiB from the C library, others
/// directly from the kernel, with transparent huge pages where they are large. Only the default uses huge pages.
///
/// Costs nothing per key. Call it once, before the first structure, and not while another thread makes one. The
/// functions may be called by any thread that makes or destroys a structure. Throws std::invalid_argument, and changes
/// nothing, if only one of the functions is given.
TALLY_EXPORT void set_memory_source(const MemorySource& source);

/// The source of the words that are allocated now.
TALLY_EXPORT MemorySource memory_source() noexcept;

}  // namespace tally

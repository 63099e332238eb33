#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"

namespace tally::detail {

/// Operations on the positions that RegisterBlockedScheme gives digests in their lines of 512 bits, with the best
/// instructions of the machine. Tests compare them with the scheme.
struct RegisterKernels {
  void (*insert)(std::uint64_t* line, Hash128 digest, std::uint32_t num_hashes);
  bool (*contains)(const std::uint64_t* line, Hash128 digest, std::uint32_t num_hashes);
  /// Inserts; returns what `contains` returned before.
  bool (*test_and_insert)(std::uint64_t* line, Hash128 digest, std::uint32_t num_hashes);

  /// For key i the digest {low[i], high[i]} in lines[i].
  void (*insert_batch)(std::uint64_t* const* lines, const std::uint64_t* low, const std::uint64_t* high,
                       std::uint32_t num_hashes, std::size_t num_keys);
  void (*contains_batch)(const std::uint64_t* const* lines, const std::uint64_t* low,
                         const std::uint64_t* high, std::uint32_t num_hashes, std::size_t num_keys,
                         bool* results);
};

/// Those for this number of hashes: one position per word has kernels of its own.
TALLY_EXPORT const RegisterKernels& register_kernels(std::uint32_t num_hashes) noexcept;

}  // namespace tally::detail

#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/export.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/hash128.hpp"

namespace tally::detail {

/// A key of a batch, and the index of the first word of its line.
struct CounterSpot {
  std::uint64_t first_word;
  std::uint64_t low;
  std::uint64_t high;
};

/// A key's increments of one counter are added up in 4 bits.
inline constexpr std::uint32_t most_hashes_of_counter_kernels = 15;

/// Operations on lines of 128 counters of 4 bits, at the positions that BlockedScheme gives a digest: with the best
/// instructions of the machine, and the same results and counters as with insert_at, remove_at and least_at. For one key,
/// and loops over keys, with the words of all lines.
struct CounterKernels {
  InsertResult (*insert)(std::uint64_t* line, Hash128 hash, std::uint32_t num_hashes);
  RemoveResult (*remove)(std::uint64_t* line, Hash128 hash, std::uint32_t num_hashes);
  bool (*passes)(const std::uint64_t* line, Hash128 hash, std::uint32_t num_hashes, std::uint32_t theta);
  std::uint32_t (*count)(const std::uint64_t* line, Hash128 hash, std::uint32_t num_hashes);

  /// Returns how many results are `saturated`.
  std::uint64_t (*insert_all)(std::uint64_t* words, const CounterSpot* spots, std::size_t num_keys,
                              std::uint32_t num_hashes);
  /// Returns how many results are `refused`.
  std::uint64_t (*remove_all)(std::uint64_t* words, const CounterSpot* spots, std::size_t num_keys,
                              std::uint32_t num_hashes, RemoveResult* results);
  void (*passes_all)(const std::uint64_t* words, const CounterSpot* spots, std::size_t num_keys,
                     std::uint32_t num_hashes, std::uint32_t theta, bool* results);
  void (*count_all)(const std::uint64_t* words, const CounterSpot* spots, std::size_t num_keys,
                    std::uint32_t num_hashes, Count* results);
};

/// Null for counters and numbers of hashes that only the general code knows, and for machines without vectors.
TALLY_EXPORT const CounterKernels* counter_kernels(std::uint32_t counter_bits,
                                                   std::uint32_t num_hashes) noexcept;

}  // namespace tally::detail

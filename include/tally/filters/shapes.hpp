#pragma once

#include <cstdint>
#include <string_view>

#include "tally/hashing/hash_scheme.hpp"

namespace tally {

/// Size of a BloomFilter.
struct BloomShape {
  std::uint64_t num_bits = 0;    ///< m: 1 to 2^56; what the scheme can use (see HashScheme)
  std::uint32_t num_hashes = 0;  ///< k: 1 to 1024

  friend bool operator==(const BloomShape&, const BloomShape&) = default;
};

/// Size of a CountingBloomFilter.
struct CountingBloomShape {
  std::uint64_t num_counters = 0;   ///< m: 1 to 2^56; what the scheme can use
  std::uint32_t num_hashes = 0;     ///< k: 1 to 1024
  std::uint32_t counter_bits = 4;   ///< 1 to 8, 16, 32 or 64; 4 are ample for sets (Summary Cache)
  std::uint64_t max_threshold = 1;  ///< largest theta it will be asked for: 1 to 2^counter_bits - 1

  friend bool operator==(const CountingBloomShape&, const CountingBloomShape&) = default;
};

/// How an insertion raises a key's counters.
enum class CounterUpdate : std::uint8_t {
  plain = 0,        ///< every counter by one: the counters of the papers; two streams' filters add up
  conservative = 1  ///< only those at the key's least value: never above plain, often far below
};

std::string_view name_of(CounterUpdate update) noexcept;

/// Size of a ThresholdFilter. Its counters are just wide enough for the threshold.
struct ThresholdShape {
  std::uint64_t num_counters = 0;  ///< m: 1 to 2^56; what the scheme can use
  std::uint32_t num_hashes = 0;    ///< k: 1 to 1024
  std::uint64_t threshold = 1;     ///< theta, in insertions: 1 to 2^32 - 1
  CounterUpdate update = CounterUpdate::plain;

  friend bool operator==(const ThresholdShape&, const ThresholdShape&) = default;
};

inline constexpr std::uint64_t max_threshold_limit = 0xffffffffu;

/// ceil(log2(threshold + 1)), rounded up to a width that CounterArray has.
std::uint32_t counter_bits_for(const ThresholdShape& shape) noexcept;

/// Bytes of memory, and of a file's body, that a shape takes.
std::uint64_t num_bytes(const BloomShape& shape) noexcept;
std::uint64_t num_bytes(const CountingBloomShape& shape) noexcept;
std::uint64_t num_bytes(const ThresholdShape& shape) noexcept;

/// What a scheme draws the positions of a filter of this shape from.
PositionSpace position_space(const BloomShape& shape) noexcept;
PositionSpace position_space(const CountingBloomShape& shape) noexcept;
PositionSpace position_space(const ThresholdShape& shape) noexcept;

/// Throw std::invalid_argument for the fields that no scheme has a say in.
void check_shape(const CountingBloomShape& shape);
void check_shape(const ThresholdShape& shape);

}  // namespace tally

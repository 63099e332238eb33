#pragma once

#include <cstdint>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// The most shards that a filter is divided over: as many as a Redis Cluster has hash slots.
inline constexpr std::uint32_t max_num_shards = 16384;

/// Which of `num_shards` structures holds the key, if one filter is divided over several: 0 to num_shards - 1.
///
///     floor(h num_shards / 2^64),   h = mix64(mix64(low + 0x7f4a7c1500000000) + high)
///
/// This never changes, because shards stay in servers: docs/format.md describes it for other languages.
///
/// A shard is a mix of the whole digest, because no bit of a digest is free:
///
///   low    the start of the congruential sequences, so the first position or column; h1 of double and triple hashing and of
///          two-hash rows; the line of the blocked schemes; the bucket of d-left filters and the line of compact ones. All
///          of these take the highest bits, as many as the structure is large.
///   high   the step of those sequences, except bit 0; h2; the first positions in a line from the lowest bits (9 or 6 for
///          each, 16 with counters); the remainder, and the mini-bucket of compact filters, from the highest bits
///   both   independent_hash(digest, i) in the standard and partitioned schemes, triple hashing and the independent and
///          two-hash rows, with i below 2048; the sums of pairwise rows; the further positions in a line
///
/// If the shard were some of these bits, the keys of one shard would agree in them: a shard by the highest bits of `low` uses
/// one part in num_shards of the lines, buckets or columns. This is independent_hash with an i that no scheme uses. For each
/// fixed `low` it is a bijection of `high`, and the other way round, so the keys of one shard still have uniform halves, up to
/// num_shards / 2^64. That positions, which depend on both halves, are independent of the shard is measured for every kind
/// and scheme (tests/statistical/shards_test.cpp).
///
/// With twice as many shards, shard i becomes shards 2 i and 2 i + 1. About 1.5 ns per key.
///
/// @param digest      of the key, made by the hasher of the structures
/// @param num_shards  1 to max_num_shards; not checked
[[nodiscard]] constexpr std::uint32_t shard_of(Hash128 digest, std::uint32_t num_shards) noexcept {
  constexpr std::uint32_t unused_by_schemes = 0xffffffff;
  return static_cast<std::uint32_t>(reduce_to_range(independent_hash(digest, unused_by_schemes), num_shards));
}

}  // namespace tally

#pragma once

#include <cstdint>

#include "tally/filters/bloom.hpp"
#include "tally/hashing/mix64.hpp"

namespace tally::detail {

/// The digest that represents a fingerprint in a Bloom filter of fingerprints.
inline Hash128 snapshot_key(std::uint64_t fingerprint) noexcept {
  const std::uint64_t low = mix64(fingerprint + 1);
  return {low, mix64(low + fingerprint)};
}

/// A Bloom filter of the table's fingerprints. Throws as BloomFilter's constructor does.
template <class Table>
BloomFilter<> snapshot(const Table& table, const BloomShape& shape, const KeyHasher& hasher) {
  BloomFilter<> bloom(shape, hasher);
  table.for_each([&](std::uint64_t fingerprint, std::uint64_t) { bloom.insert(snapshot_key(fingerprint)); });
  return bloom;
}

}  // namespace tally::detail

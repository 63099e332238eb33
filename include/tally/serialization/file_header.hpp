#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tally/any_filter.hpp"
#include "tally/export.hpp"
#include "tally/serialization/format_error.hpp"

namespace tally {

inline constexpr std::uint64_t file_header_bytes = 128;
inline constexpr std::uint16_t file_format_version = 1;

/// The contents of the first 128 bytes of a filter file (docs/format.md).
struct TALLY_EXPORT FileHeader {
  FilterShape shape;
  HashId hash_id = HashId::xxh3_128;
  std::uint64_t seed_or_key_id = 0;
  FilterTotals totals;
  std::uint64_t body_checksum = 0;  ///< XXH3-64 of the body

  /// Bytes after the header.
  std::uint64_t body_bytes() const { return shape.num_bytes(); }

  /// The hasher that made the file. Throws std::invalid_argument if the file's hash is keyed and `key` is
  /// missing or different. A key is ignored if the hash has a public seed.
  KeyHasher hasher(const std::optional<HashKey>& key) const;
};

/// Reads and checks a header; bytes after the first 128 are ignored. A filter of its shape can be constructed
/// if there is enough memory. Throws FormatError.
TALLY_EXPORT FileHeader read_header(std::span<const std::byte> bytes);

}  // namespace tally

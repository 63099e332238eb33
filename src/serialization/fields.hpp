#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "detail/byte_fields.hpp"
#include "serialization/parts.hpp"
#include "tally/serialization/file_kind.hpp"

// Where the fields of all kinds are (docs/format.md has the same table), and what the headers of all kinds
// have in common.

namespace tally::detail {

inline constexpr std::size_t magic_at = 0;
inline constexpr std::size_t version_at = 8;
inline constexpr std::size_t kind_at = 10;
inline constexpr std::size_t hash_id_at = 12;
inline constexpr std::size_t scheme_id_at = 14;
inline constexpr std::size_t seed_at = 16;
inline constexpr std::size_t num_positions_at = 24;
inline constexpr std::size_t num_hashes_at = 32;
inline constexpr std::size_t counter_bits_at = 36;
inline constexpr std::size_t update_at = 38;
inline constexpr std::size_t threshold_at = 40;
inline constexpr std::size_t num_insertions_at = 48;
inline constexpr std::size_t num_removes_at = 56;
inline constexpr std::size_t num_refused_removes_at = 64;
// The following bytes are reserved for most kinds; others store the rest of their shape and state in them.
inline constexpr std::size_t own_fields_at = 72;
inline constexpr std::size_t cells_per_bucket_at = 72;
inline constexpr std::size_t remainder_bits_at = 74;
inline constexpr std::size_t least_remainder_bits_at = 75;
inline constexpr std::size_t num_doublings_at = 76;
inline constexpr std::size_t grows_at = 77;
inline constexpr std::size_t num_full_at = 80;
inline constexpr std::size_t num_rescues_at = 88;
inline constexpr std::size_t num_fingerprints_at = 96;
inline constexpr std::size_t num_copies_at = 72;
inline constexpr std::size_t rounding_at = 80;
inline constexpr std::size_t older_total_at = 88;
inline constexpr std::size_t older_rounding_at = 96;
inline constexpr std::size_t capacity_at = threshold_at;
inline constexpr std::size_t sketch_total_at = 80;
inline constexpr std::size_t floor_at = 88;
inline constexpr std::size_t num_candidates_at = 96;
inline constexpr std::size_t body_bytes_at = 104;
inline constexpr std::size_t body_checksum_at = 112;
inline constexpr std::size_t header_checksum_at = 120;

inline constexpr std::uint16_t num_file_kinds = 11;

/// Throws FormatError unless there is a header with the magic, the version, its checksum, a kind, a hash and
/// no nonzero reserved byte; returns the kind.
FileKind check_frame(FileBytes bytes);

/// The shape and row scheme of a sketch, for `kind`. Throws FormatError. A sketch with this shape can be
/// constructed if there is enough memory.
FilterShape read_sketch_shape(FileBytes bytes, FileKind kind);

/// The header of a file, field by field.
class HeaderWriter {
 public:
  HeaderWriter(FileKind kind, std::uint16_t scheme_id, const KeyHasher& hasher);

  template <class Integer>
  void put(std::size_t at, Integer value) {
    store_little_endian(bytes_.data() + at, value);
  }
  void put_shape(const CountMinShape& shape);

  std::array<std::byte, file_header_bytes> finish(std::uint64_t body_bytes, std::uint64_t body_checksum);

 private:
  std::array<std::byte, file_header_bytes> bytes_{};
};

}  // namespace tally::detail

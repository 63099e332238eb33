#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/serialization.hpp"

namespace tally::detail {

using FileBytes = std::span<const std::byte>;

/// XXH3-64 with seed 0.
inline std::uint64_t checksum(FileBytes bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

/// The same of several pieces, one after the other.
class Checksum {
 public:
  Checksum() noexcept { XXH3_64bits_reset(&state_); }
  void add(FileBytes piece) noexcept { XXH3_64bits_update(&state_, piece.data(), piece.size()); }
  std::uint64_t value() const noexcept { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

/// A filter's body: its side table need not follow the rest in memory.
struct BodyBytes {
  FileBytes main;
  FileBytes side;
};

/// The body of a filter in a file's bytes, which are contiguous.
inline BodyBytes divided(const FilterShape& shape, FileBytes body) {
  return {body.first(body.size() - shape.side_bytes()), body.last(shape.side_bytes())};
}

inline std::uint64_t body_checksum(const BodyBytes& body) noexcept {
  if (body.side.empty()) return checksum(body.main);
  Checksum both;
  both.add(body.main);
  both.add(body.side);
  return both.value();
}

/// The first 128 bytes of the filter's file.
std::array<std::byte, file_header_bytes> header_of(const FilterView& filter);
std::array<std::byte, file_header_bytes> header_of(const FilterView& filter, std::uint64_t checksum_of_body);

/// What a file of this kind must be that has another scheme.
inline std::string rule_of_scheme(std::string_view kind, std::string_view wanted, std::string_view found) {
  std::string rule(kind);
  return rule.append(" with the scheme '").append(wanted).append("', not '").append(found).append("'");
}

/// The pieces one after the other.
std::vector<std::byte> joined(std::span<const FileBytes> pieces);

/// Writes the pieces one after the other, as `save` writes a filter.
void save_pieces(std::span<const FileBytes> pieces, const std::filesystem::path& path, Overwrite overwrite);

/// Throws FormatError unless `file_bytes` is the length of the whole file.
void check_length(std::uint64_t body_bytes, std::uint64_t file_bytes);

/// Throws FormatError unless the checksum of the body is the one in the header.
void check_body_checksum(std::uint64_t found, std::uint64_t body_checksum);

/// Throws FormatError unless all bits that belong to no position of the shape are 0; `words` begin at byte
/// `offset` of the file.
void check_unused_bits(const FilterShape& shape, FileBytes words, std::uint64_t offset);

/// The hasher that made a file. Throws as FileHeader::hasher.
KeyHasher hasher_of_file(HashId id, std::uint64_t seed_or_key_id, const std::optional<HashKey>& key);

/// Throws FormatError unless the body's checksum matches, its unused bits are 0 and a filter can have written
/// its cells. `body` has the length given in the header.
void check_body(const FileHeader& header, const BodyBytes& body);

/// The part of check_body for d-left filters: cells and side table agree with the header and each other.
/// Duplicate cells for one fingerprint are not detected: they give counts that are too low, and nothing
/// worse.
void check_dleft_body(const FileHeader& header, const DLeftShape& shape, const BodyBytes& body);

/// The same for compact d-left filters: every line is as the filter would write it.
void check_compact_body(const FileHeader& header, const CompactDLeftShape& shape, const BodyBytes& body);

/// The part of both for the side table. belongs(fingerprint) tells whether an entry may be there. Every entry must be
/// found by a search: there is no free slot between its home slot and it, and no fingerprint occurs twice. In linear time
/// except for the sorting, for any words.
void check_side_table(const BodyBytes& body, std::uint64_t spill_capacity,
                      const std::function<bool(std::uint64_t)>& belongs);

}  // namespace tally::detail

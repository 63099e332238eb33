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
#include "tally/serialization/body_check.hpp"

namespace tally::detail {

using FileBytes = std::span<const std::byte>;

/// XXH3-64 with seed 0.
inline std::uint64_t checksum(FileBytes bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

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
/// `offset` of the file. The first `num_clean` words are known to have none.
void check_unused_bits(const FilterShape& shape, FileBytes words, std::uint64_t offset,
                       std::uint64_t num_clean = 0);

/// The hasher that made a file. Throws as FileHeader::hasher.
KeyHasher hasher_of_file(HashId id, std::uint64_t seed_or_key_id, const std::optional<HashKey>& key);

/// BodyCheck of a body that is there.
void check_body(const FileHeader& header, const BodyBytes& body);

// The parts of BodyCheck for kinds of filters. The first goes on as far as the first `num_bytes` of the body have arrived.
// The second is for the end, and throws FormatError.

/// d-left filters: cells and side table agree with the header and each other. Duplicate cells for one fingerprint are not
/// detected: they give counts that are too low, and nothing worse.
void check_dleft_part(const FileHeader& header, const DLeftShape& shape, const BodyBytes& body,
                      std::uint64_t num_bytes, CheckedUnits& cells, CheckedSideTable& side_table) noexcept;
void check_dleft_rest(const FileHeader& header, const DLeftShape& shape, const BodyBytes& body,
                      const CheckedUnits& cells, const CheckedSideTable& side_table);

/// The same for compact d-left filters: every line is as the filter would write it.
void check_compact_part(const FileHeader& header, const CompactDLeftShape& shape, const BodyBytes& body,
                        std::uint64_t num_bytes, CheckedUnits& lines, CheckedSideTable& side_table) noexcept;
void check_compact_rest(const FileHeader& header, const CompactDLeftShape& shape, const BodyBytes& body,
                        const CheckedUnits& lines, const CheckedSideTable& side_table);

/// Whether an entry for this fingerprint may be in a side table. For any words.
using SideTableRule = std::function<bool(std::uint64_t fingerprint)>;

// The parts of both for the side table, of which the first `num_bytes` have arrived. Every entry must be found by a search:
// there is no free slot between its home slot and it, and no fingerprint occurs twice. In linear time except for the
// sorting of runs, for any words.

void check_side_table(const BodyBytes& body, std::uint64_t num_bytes, std::uint64_t spill_capacity,
                      const SideTableRule& belongs, CheckedSideTable& checked) noexcept;
void check_rest_of_side_table(const BodyBytes& body, std::uint64_t spill_capacity,
                              const SideTableRule& belongs, const CheckedSideTable& checked);

}  // namespace tally::detail

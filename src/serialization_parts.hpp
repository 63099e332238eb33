#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/serialization/file_header.hpp"

namespace tally::detail {

using FileBytes = std::span<const std::byte>;

/// XXH3-64 under seed 0.
inline std::uint64_t checksum(FileBytes bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

/// The first 128 bytes of the filter's file.
std::array<std::byte, file_header_bytes> header_of(const AnyFilter& filter);

/// Throws FormatError unless so many bytes are a whole file.
void check_length(const FileHeader& header, std::uint64_t file_bytes);

/// Throws FormatError unless the body's checksum matches and its unused bits are 0. `body` is as long
/// as the header says.
void check_body(const FileHeader& header, FileBytes body);

}  // namespace tally::detail

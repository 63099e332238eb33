#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The fields before and after the body of a state.

namespace tally::detail::state {

inline constexpr std::array<unsigned char, 8> magic{0x89, 'T', 'A', 'L', 'S', 'T', '\r', '\n'};
/// Of the head of a state in pieces, whose body ends with a table of its parts and the table's length. A row has the number
/// of words and their checksum, or `is_filter` and the header of a file.
inline constexpr std::array<unsigned char, 8> magic_of_head{0x89, 'T', 'A', 'L', 'S', 'H', '\r', '\n'};
inline constexpr std::uint64_t is_filter = ~std::uint64_t{0};
inline constexpr std::uint16_t version = 2;
inline constexpr std::size_t version_at = 8;
inline constexpr std::size_t kind_at = 10;
inline constexpr std::size_t reserved_at = 12;
inline constexpr std::size_t length_at = 16;
inline constexpr std::size_t body_at = 24;
inline constexpr std::size_t checksum_bytes = 8;

}  // namespace tally::detail::state

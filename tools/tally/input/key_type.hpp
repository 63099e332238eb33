#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"

namespace tally::cli {

/// What a line or field is as a key: its bytes, or a number, whose key is that of the integer in the library.
enum class KeyType : std::uint8_t { text, u64, i64 };

std::string_view name_of(KeyType type) noexcept;

/// --key-type.
Option add_key_type(CommandLine app, KeyType& type);

/// The 64 bits of a number; false if `text` is not a number of the type, which must not be `text`. Leading zeros count for
/// nothing. A '+' and blanks are no part of a number.
bool parse_key(KeyType type, std::string_view text, std::uint64_t& bits) noexcept;

/// "'4x' is not a whole number from 0 to 2^64 - 1 (--key-type u64: digits only)".
std::string why_refused(KeyType type, std::string_view text);

/// The 8 bytes that a structure stores for a number.
using NumberBytes = std::array<char, 8>;
NumberBytes bytes_of_number(std::uint64_t bits) noexcept;
inline std::string_view view_of(const NumberBytes& bytes) noexcept { return {bytes.data(), bytes.size()}; }

/// The bytes that a structure stores for a key which parse_key accepts.
std::string stored_key(KeyType type, std::string_view text);
/// The other way round. Throws std::invalid_argument for bytes that are not those of a number.
std::string shown_key(KeyType type, std::string_view stored);

}  // namespace tally::cli

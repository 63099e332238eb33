#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally::detail {

static_assert(
    std::endian::native == std::endian::little,
    "the bodies of files are the words in memory: a big-endian port must swap them on reading and writing");

/// Reads an unsigned integer from its little-endian bytes; `from` needs no alignment.
template <class Integer>
Integer load_little_endian(const std::byte* from) noexcept {
  static_assert(std::is_unsigned_v<Integer>);
  Integer value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Writes an unsigned integer as its little-endian bytes; `to` needs no alignment.
template <class Integer>
void store_little_endian(std::byte* to, Integer value) noexcept {
  static_assert(std::is_unsigned_v<Integer>);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace tally::detail

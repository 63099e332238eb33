#pragma once

namespace tally::cli {

/// 0 to 15; -1 for a character that is no hexadecimal digit.
constexpr int value_of_hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace tally::cli

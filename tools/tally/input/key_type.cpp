#include "input/key_type.hpp"

#include <fmt/core.h>

#include <charconv>
#include <stdexcept>

#include "cli/options.hpp"

namespace tally::cli {
namespace {

template <class Integer>
bool parse_integer(std::string_view text, std::uint64_t& bits) noexcept {
  Integer value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  bits = static_cast<std::uint64_t>(value);
  return error == std::errc() && end == last;
}

}  // namespace

std::string_view name_of(KeyType type) noexcept {
  switch (type) {
    case KeyType::u64:
      return "u64";
    case KeyType::i64:
      return "i64";
    default:
      return "text";
  }
}

Option add_key_type(CommandLine app, KeyType& type) {
  const auto choose = [&type](std::string_view word) {
    type = KeyType::text;
    for (const KeyType number : {KeyType::u64, KeyType::i64}) {
      if (word == name_of(number)) type = number;
    }
  };
  return add_choice(app, "--key-type", choose, R"(
      Keys are text, or whole numbers: u64 from 0 to 2^64 - 1, i64 from -2^63 to 2^63 - 1. A number is the same key as
      that integer in C++ and numpy, and 007 is 7. Files do not store the type: give it to every command that uses the
      file (default: text)
      )",
                    {"text", "u64", "i64"});
}

bool parse_key(KeyType type, std::string_view text, std::uint64_t& bits) noexcept {
  return type == KeyType::u64 ? parse_integer<std::uint64_t>(text, bits)
                              : parse_integer<std::int64_t>(text, bits);
}

std::string why_refused(KeyType type, std::string_view text) {
  constexpr std::size_t most_shown = 80;
  return fmt::format("'{}' is not a whole number from {}", text.substr(0, most_shown),
                     type == KeyType::u64
                         ? "0 to 2^64 - 1 (--key-type u64: digits only)"
                         : "-2^63 to 2^63 - 1 (--key-type i64: digits, after a '-' if it is negative)");
}

NumberBytes bytes_of_number(std::uint64_t bits) noexcept {
  NumberBytes bytes{};
  for (char& byte : bytes) {
    byte = static_cast<char>(bits);
    bits >>= 8;
  }
  return bytes;
}

std::string stored_key(KeyType type, std::string_view text) {
  std::uint64_t bits = 0;
  if (type == KeyType::text || !parse_key(type, text, bits)) return std::string(text);
  return std::string(view_of(bytes_of_number(bits)));
}

std::string shown_key(KeyType type, std::string_view stored) {
  if (type == KeyType::text) return std::string(stored);
  if (stored.size() != sizeof(std::uint64_t)) {
    throw std::invalid_argument(
        fmt::format("--key-type is {}, but a key has {} bytes; a number has 8; leave --key-type out",
                    name_of(type), stored.size()));
  }
  std::uint64_t bits = 0;
  for (std::size_t i = stored.size(); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(stored[i]);
  return type == KeyType::u64 ? std::to_string(bits) : std::to_string(static_cast<std::int64_t>(bits));
}

}  // namespace tally::cli

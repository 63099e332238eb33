#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "tally/detail/format_error.hpp"
#include "tally/detail/little_endian.hpp"

// Fields of headers: how to read them, and one wording for their errors.

namespace tally::detail {

inline constexpr const char* tally_file = "tally file";

template <class Integer>
Integer field(std::span<const std::byte> bytes, std::size_t at) {
  return load_little_endian<Integer>(bytes.data() + at);
}

template <class Value>
[[noreturn]] void throw_field_error(std::string_view name, Value value, const std::string& rule,
                                    std::size_t at, const char* subject = tally_file) {
  throw FormatError(std::string(name) + " is " + std::to_string(value) + "; must be " + rule, at, subject);
}

template <class Value>
void require_field(std::string_view name, Value value, std::type_identity_t<Value> low,
                   std::type_identity_t<Value> high, std::size_t at, std::string_view condition = "",
                   const char* subject = tally_file) {
  if (value >= low && value <= high) return;
  std::string rule = std::to_string(low);
  if (high == std::numeric_limits<Value>::max()) rule += " or more";
  else if (high != low) rule += " to " + std::to_string(high);
  throw_field_error(name, value, rule + std::string(condition), at, subject);
}

}  // namespace tally::detail

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "tally/any_filter.hpp"
#include "tally/detail/parameter_error.hpp"

namespace tally::detail {

/// "remove: a bloom filter has none; use a counting-bloom filter".
[[noreturn]] inline void throw_unsupported(std::string_view operation, FilterKind kind,
                                           std::string_view instead) {
  std::string message(operation);
  message.append(": a ").append(name_of(kind)).append(" filter has none; use a ").append(instead);
  throw std::invalid_argument(message.append(" filter"));
}

inline void require_equally_long(std::size_t num_keys, std::size_t num_results) {
  if (num_keys == num_results) return;
  throw_parameter_error("AnyFilter", "number of results", std::to_string(num_results),
                        std::to_string(num_keys) + ", one a key");
}

}  // namespace tally::detail

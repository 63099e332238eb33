#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tally::cli {

/// The fields of access logs in the combined format of Apache and nginx. Those of the common format are the first seven.
/// The last three are parts of the request.
struct AccessLog {
  static constexpr std::array<std::string_view, 12> names{"host",    "ident",  "user",  "time",
                                                          "request", "status", "bytes", "referer",
                                                          "agent",   "method", "path",  "protocol"};
  static constexpr std::size_t request = 4;
  static constexpr std::size_t num_in_line = 9;
  static constexpr std::size_t method = 9;

  using Fields = std::array<std::string_view, names.size()>;

  /// Sets the first `count` fields of the line, without quotes and brackets and otherwise as they are there. Returns how many
  /// there are, or `broken` if a quote or bracket is not closed.
  static constexpr std::size_t broken = names.size() + 1;
  static std::size_t read(std::string_view line, std::size_t count, Fields& fields) noexcept;

  /// Sets method, path and protocol from the request; false if it does not have all three.
  static bool divide_request(Fields& fields) noexcept;
};

}  // namespace tally::cli

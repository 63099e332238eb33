#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "options.hpp"

namespace tally::cli {

/// Times and durations are whole nanoseconds; a time counts from 1970-01-01 00:00 UTC.
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds nanoseconds_per_second = 1'000'000'000;

/// "10m", "1.5h", "500ms", "90s", "7d", and "90", which is seconds: above 0, at most 100 years.
/// Throws std::invalid_argument that quotes the text and says what is right.
Nanoseconds parse_duration(std::string_view text);

/// `Target` is Nanoseconds or an optional of it.
template <class Target>
Option add_duration(CommandLine app, const std::string& names, Target& target,
                    const std::string& description) {
  const auto parse = [&target](std::string_view text) { target = parse_duration(text); };
  return app.add_parsed(names, parse, description, "TIME");
}

/// "10m", "1.5h", "500ms".
std::string duration_text(Nanoseconds duration);

}  // namespace tally::cli

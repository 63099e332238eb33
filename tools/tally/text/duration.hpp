#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tally::cli {

/// Times and durations are whole nanoseconds; a time counts from 1970-01-01 00:00 UTC.
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds nanoseconds_per_second = 1'000'000'000;

/// "10m", "1.5h", "500ms", "90s", "7d", and "90", which is seconds: above 0, at most 100 years.
/// Throws std::invalid_argument that quotes the text and says what is right.
Nanoseconds parse_duration(std::string_view text);

/// "10m", "1.5h", "500ms".
std::string duration_text(Nanoseconds duration);

}  // namespace tally::cli

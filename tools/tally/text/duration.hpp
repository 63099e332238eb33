#pragma once

#include <string>
#include <string_view>

#include "tally/streams/nanoseconds.hpp"

namespace tally::cli {

/// A time counts from 1970-01-01 00:00 UTC.
using tally::Nanoseconds;
inline constexpr Nanoseconds nanoseconds_per_second = 1'000'000'000;

/// "10m", "1.5h", "1h30m", "500ms", "90s", "7d", and "90", which is seconds: above 0, at most 100 years. Throws
/// std::invalid_argument that quotes the text and says what is allowed.
Nanoseconds parse_duration(std::string_view text);

/// "10m", "1.5h", "500ms".
std::string duration_text(Nanoseconds duration);

}  // namespace tally::cli

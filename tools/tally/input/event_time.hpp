#pragma once

#include <optional>
#include <string_view>

#include "text/duration.hpp"

namespace tally::cli {

/// The time in a log, in nanoseconds since 1970 UTC; empty for text in none of these formats:
///
///     1700000000, 1700000000.25                        seconds since 1970
///     1700000000250                                    milliseconds; microseconds and nanoseconds have 16 and 19 digits
///     2026-11-21, 2026-11-21T20:45:00.5+01:00          ISO 8601, RFC 3339; a blank for the T; Z, +0100 or +01
///     [21/Nov/2026:20:45:00 +0100]                     access logs; the brackets and the zone are optional
///     Nov  1 20:45:00, Sat Nov 21 20:45:00 2026        syslog and asctime; weekday and year are optional
///
/// A time without a zone is UTC. One without a year is in the latest year that is not after `now` by more than a day.
/// Years 1825 to 2114.
std::optional<Nanoseconds> parse_time(std::string_view text, Nanoseconds now);

/// By the clock of the system.
Nanoseconds time_now();

/// "2026-11-21T20:45:00Z", with as many digits of the second as it has.
std::string time_text(Nanoseconds time);

}  // namespace tally::cli

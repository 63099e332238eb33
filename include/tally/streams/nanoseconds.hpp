#pragma once

#include <cstdint>

namespace tally {

/// A time since any fixed moment, or a duration.
using Nanoseconds = std::int64_t;

/// 146 years. Times further from 0 are replaced by this one, so that differences do not overflow.
inline constexpr Nanoseconds max_time = 4'600'000'001'000'000'000;

}  // namespace tally

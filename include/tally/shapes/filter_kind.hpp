#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

/// The kinds of structures; the numbers stand in files and are never reused.
enum class FilterKind : std::uint16_t {
  bloom = 1,
  blocked_bloom = 2,
  counting_bloom = 3,
  threshold = 4,
  dleft = 5,
  count_min = 6
};

/// "bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft" or "count-min".
std::string_view name_of(FilterKind kind) noexcept;

/// The kind so called. Throws std::invalid_argument that lists the names.
FilterKind filter_kind(std::string_view name);

}  // namespace tally

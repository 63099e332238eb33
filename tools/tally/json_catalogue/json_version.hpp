#pragma once

#include <cstdint>

namespace tally::cli {

/// Of all JSON that the command prints. Rises when a member is removed or renamed, or gets another type, unit or meaning;
/// not when one is added.
inline constexpr std::uint32_t json_version = 1;

}  // namespace tally::cli

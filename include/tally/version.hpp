#pragma once

#include <string_view>

#include "tally/export.hpp"

namespace tally {

/// The version of the linked library, "major.minor.patch". Only CMakeLists.txt defines it.
[[nodiscard]] TALLY_EXPORT std::string_view version() noexcept;

}  // namespace tally

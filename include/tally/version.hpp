#pragma once

#include <string_view>

namespace tally {

/// The version of the linked library, "major.minor.patch". Only CMakeLists.txt defines it.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace tally

#pragma once

#include <string_view>

namespace tally {

/// The version of the library that is linked, "major.minor.patch". It is written in one place, CMakeLists.txt.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace tally

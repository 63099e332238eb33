#pragma once

#include <string>

#include "tally/detail/parameter_error.hpp"

namespace tally::detail {

/// A value as an error message shows it. Of a double, the fewest digits that read back as the same number.
std::string text_of(const ShownValue& value);

}  // namespace tally::detail

#pragma once

#include <string>
#include <string_view>

namespace tally::cli {

/// How text stands out on a terminal.
enum class Style { heading, error };

/// The text, with the terminal's codes around it if `file` is a terminal that has them (TERM is set, and not dumb) and
/// NO_COLOR is not set or empty.
std::string styled(Style style, std::string_view text, int file);

}  // namespace tally::cli

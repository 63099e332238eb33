#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally::cli {

/// Text in lines of at most `width` columns, the lines after the first behind `indent` blanks.
/// Line breaks in the text stay.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 80);

}  // namespace tally::cli

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally::cli {

/// Text in lines of at most `width` columns, the lines after the first indented by `indent` blanks. Line
/// breaks in the text stay.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 80);

/// The text of a raw string: each paragraph in one line, with an empty line between two. Paragraphs end at an
/// empty line. A line that is indented deeper than the first one stays a line of its own. A text that does not
/// begin with a newline is returned unchanged.
std::string unfolded(std::string_view text);

}  // namespace tally::cli

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally::cli {

/// A text of a user as a message quotes it: its beginning, and three dots if it goes on.
inline std::string shortened(std::string_view text) {
  constexpr std::size_t most_shown = 80;
  std::string shown(text.substr(0, most_shown));
  if (text.size() > most_shown) shown += "...";
  return shown;
}

}  // namespace tally::cli

#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tally::cli {

/// "a", "a or b", "a, b or c". There is at least one word.
inline std::string or_list(std::vector<std::string> words) {
  const std::string last = std::move(words.back());
  words.pop_back();
  return words.empty() ? last : fmt::format("{} or {}", fmt::join(words, ", "), last);
}

}  // namespace tally::cli

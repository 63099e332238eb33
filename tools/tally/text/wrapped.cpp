#include "text/wrapped.hpp"

namespace tally::cli {

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  bool line_starts = true;
  while (!text.empty()) {
    if (text.front() == '\n') {
      result += '\n';
      column = 0;
      line_starts = true;
      text.remove_prefix(1);
      continue;
    }
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    if (!line_starts && column + 1 + word.size() > width) {
      result += '\n';
      column = 0;
      line_starts = true;
    }
    if (column == 0) {
      result.append(indent, ' ');
      column = indent;
    } else if (!line_starts) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    line_starts = false;
    text.remove_prefix(word.size());
  }
  return result;
}

}  // namespace tally::cli

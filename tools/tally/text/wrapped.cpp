#include "text/wrapped.hpp"

#include <algorithm>

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

std::string unfolded(std::string_view text) {
  if (!text.starts_with('\n')) return std::string(text);
  const std::size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return "";
  const std::size_t margin = first - text.rfind('\n', first) - 1;
  std::string result;
  std::string_view separator;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) {
      separator = result.empty() ? "" : "\n\n";
      continue;
    }
    if (separator == " " && indent > margin) separator = "\n";
    result.append(separator).append(line.substr(indent));
    separator = indent > margin ? "\n" : " ";
  }
  return result;
}

}  // namespace tally::cli

#include "commands/top_table.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text/output.hpp"
#include "text/style.hpp"

namespace tally::cli {

bool ScreenTable::is_possible() { return isatty(STDOUT_FILENO) == 1; }

ScreenTable::Size ScreenTable::size() {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row < 3 || window.ws_col < 10) return {};
  return {window.ws_row, window.ws_col};
}

void ScreenTable::draw(std::string_view text, bool is_last) {
  const Size size = ScreenTable::size();
  std::string drawn;
  if (num_drawn_ > 0) drawn = fmt::format("\x1b[{}A\r\x1b[J", num_drawn_);
  num_drawn_ = 0;
  while (!text.empty() && (is_last || num_drawn_ + 1 < size.rows)) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::size_t length = 0;
    std::size_t columns = 0;
    for (; length < line.size(); ++length) {
      const bool starts_a_character = (static_cast<unsigned char>(line[length]) & 0xc0) != 0x80;
      if (starts_a_character && ++columns >= size.columns) break;
    }
    const std::string_view shown = line.substr(0, length);
    drawn += num_drawn_ == 0 ? styled(Style::heading, shown, STDOUT_FILENO) : std::string(shown);
    drawn += '\n';
    ++num_drawn_;
  }
  print(drawn);
}

std::string printable(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace tally::cli

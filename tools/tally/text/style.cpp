#include "text/style.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

namespace tally::cli {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool shows_styles(int file) {
  const std::string_view terminal = variable("TERM");
  return variable("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb" && isatty(file) == 1;
}

}  // namespace

std::string styled(Style style, std::string_view text, int file) {
  if (!shows_styles(file)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", style == Style::heading ? "1" : "1;31", text);
}

}  // namespace tally::cli

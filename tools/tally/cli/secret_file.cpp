#include "cli/secret_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace tally::cli {

std::string secret_in(const std::string& flag, const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (file) std::getline(file, line);
  if (!file.is_open() || file.bad())
    throw std::system_error(errno, std::generic_category(), flag + ": '" + path + "'");
  if (line.ends_with('\r')) line.pop_back();
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument(flag + ": the first line of '" + path + "' " + why);
  };
  if (line.empty()) refuse("is empty");
  if (line.front() == ' ' || line.back() == ' ') refuse("begins or ends with a blank; remove that");
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(line, is_control)) refuse("has control characters; it must be text");
  return line;
}

}  // namespace tally::cli

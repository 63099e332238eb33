#include "cli/secret_file.hpp"

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace tally::cli {

std::string secret_in(const std::string& flag, const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file) throw std::system_error(errno, std::generic_category(), flag + ": '" + path + "'");
  std::getline(file, line);
  if (line.empty()) throw std::invalid_argument(flag + ": the first line of '" + path + "' is empty");
  return line;
}

}  // namespace tally::cli

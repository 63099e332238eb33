#include "files/json_file.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <system_error>

namespace tally::cli {

Json read_json(const std::string& path, std::string_view flag) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  try {
    errno = EIO;
    return Json::parse(file);
  } catch (const std::ios_base::failure&) {
    throw std::system_error(errno, std::generic_category(), path);  // a directory, for example
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: '{}' is not valid JSON: {}", flag, path, error.what()));
  }
}

}  // namespace tally::cli

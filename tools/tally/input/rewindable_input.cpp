#include "input/rewindable_input.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace tally::cli {

RewindableInput::RewindableInput(std::vector<std::string> files, std::string_view flag,
                                 std::string_view advice) {
  if (files.empty()) files.emplace_back("-");
  for (const std::string& file : files) {
    const bool is_standard_input = file == "-";
    const std::string name = is_standard_input ? "standard input" : file;
    struct stat status {};
    int error = 0;
    if ((is_standard_input ? fstat(STDIN_FILENO, &status) : stat(file.c_str(), &status)) != 0) error = errno;
    if (S_ISDIR(status.st_mode)) error = EISDIR;
    if (error != 0) throw std::system_error(error, std::generic_category(), name);
    if (!S_ISREG(status.st_mode)) {
      throw std::invalid_argument(
          fmt::format("{}: '{}' cannot be read twice to count its {}", flag, name, advice));
    }
    if (is_standard_input) standard_input_start_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
  }
}

void RewindableInput::rewind() const {
  if (standard_input_start_ >= 0 && lseek(STDIN_FILENO, standard_input_start_, SEEK_SET) < 0)
    throw std::system_error(errno, std::generic_category(), "standard input");
}

}  // namespace tally::cli

#include "input/input_is_output.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>

namespace tally::cli {
namespace {

struct FileId {
  dev_t device;
  ino_t inode;
  bool operator==(const FileId&) const = default;
};

using Status = struct stat;

std::optional<FileId> id_of(int result, const Status& status) {
  if (result != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}
std::optional<FileId> regular_file(const std::string& path) {
  Status status{};
  return id_of(::stat(path.c_str(), &status), status);
}
std::optional<FileId> regular_file(int file) {
  Status status{};
  return id_of(::fstat(file, &status), status);
}

/// The name of the first input that is this file.
std::optional<std::string> find_among(std::vector<std::string> inputs, const std::optional<FileId>& output) {
  if (!output) return std::nullopt;
  if (inputs.empty()) inputs.emplace_back("-");
  for (const std::string& input : inputs) {
    if ((input == "-" ? regular_file(STDIN_FILENO) : regular_file(input)) == output)
      return input == "-" ? "standard input" : input;
  }
  return std::nullopt;
}

}  // namespace

void refuse_input_as_output(std::vector<std::string> inputs, const std::string& output,
                            std::string_view flag) {
  if (output.empty() || output == "-") return;
  if (const auto name = find_among(std::move(inputs), regular_file(output))) {
    throw std::invalid_argument(
        fmt::format("{}: '{}' is also read ({}): input file is output file; give another output file", flag,
                    output, *name));
  }
}

void refuse_input_as_standard_output(std::vector<std::string> inputs) {
  if (const auto name = find_among(std::move(inputs), regular_file(STDOUT_FILENO))) {
    throw std::invalid_argument(
        fmt::format("{}: input file is output file; send standard output to another file", *name));
  }
}

}  // namespace tally::cli

#include "input/input_is_output.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>

#include "input/file_identity.hpp"

namespace tally::cli {
namespace {

using Status = struct stat;

std::optional<FileIdentity> identity_of(int result, const Status& status) {
  if (result != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity::of(status);
}
std::optional<FileIdentity> regular_file(const std::string& path) {
  Status status{};
  return identity_of(::stat(path.c_str(), &status), status);
}
std::optional<FileIdentity> regular_file(int file) {
  Status status{};
  return identity_of(::fstat(file, &status), status);
}

/// The name of the first input that is this file.
std::optional<std::string> find_among(std::vector<std::string> inputs,
                                      const std::optional<FileIdentity>& output) {
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

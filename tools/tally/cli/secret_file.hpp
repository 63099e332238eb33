#pragma once

#include <string>

namespace tally::cli {

/// The first line of a file, which `flag` names. Throws std::system_error if it cannot be read, and std::invalid_argument
/// if the line is empty.
std::string secret_in(const std::string& flag, const std::string& path);

}  // namespace tally::cli

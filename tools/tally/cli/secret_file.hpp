#pragma once

#include <string>

namespace tally::cli {

/// The first line of a file, which `flag` names, without its end ("\n" or "\r\n"). Throws std::system_error if it cannot be read, and
/// std::invalid_argument if the line is empty, begins or ends with a blank, or has control characters.
std::string secret_in(const std::string& flag, const std::string& path);

}  // namespace tally::cli

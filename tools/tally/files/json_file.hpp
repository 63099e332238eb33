#pragma once

#include <string>
#include <string_view>

#include "text/json.hpp"

namespace tally::cli {

/// The JSON in a file. Throws std::system_error if it cannot be read, and std::invalid_argument, which names the flag, if
/// it is not JSON.
Json read_json(const std::string& path, std::string_view flag);

}  // namespace tally::cli

#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "json_catalogue/json_record.hpp"

namespace tally::cli {

/// What each command prints, by its name ("squid info").
std::map<std::string_view, std::vector<const JsonRecord*>> json_outputs();

}  // namespace tally::cli

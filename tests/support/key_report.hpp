#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tally::test {

/// The bytes of a key, or with the name "line" of its line, by the rule of docs/json.md.
std::string bytes_in(const nlohmann::json& object, const std::string& name = "key");

/// The values of a text: each line has one.
std::vector<nlohmann::json> json_lines(const std::string& text);

/// What a command that prints keys printed under --json: an object a key, and a summary.
struct KeyReport {
  int exit_code = -1;
  std::vector<std::string> keys;
  nlohmann::json summary;
  std::string error;
};

/// Also holds the first lines and the last one against the schema.
KeyReport run_for_keys(std::vector<std::string> arguments, const std::string& input);

}  // namespace tally::test

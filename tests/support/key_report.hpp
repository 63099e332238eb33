#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"

namespace tally::test {

/// What a command that prints keys printed under --json: an object a key, and a summary.
struct KeyReport {
  int exit_code = -1;
  std::vector<std::string> keys;
  nlohmann::json summary;
  std::string error;
};

inline KeyReport run_for_keys(std::vector<std::string> arguments, const std::string& input) {
  arguments.emplace_back("--json");
  const CommandResult result = run_tally(std::move(arguments), input);
  KeyReport report{.exit_code = result.exit_code, .keys = {}, .summary = {}, .error = result.error};
  for (const std::string& line : split_keys(result.output)) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("summary")) {
      report.summary = json["summary"];
    } else {
      report.keys.push_back(json.contains("key") ? json["key"]
                                                 : json["key_hex"]);  // the latter if it is no text
    }
  }
  return report;
}

}  // namespace tally::test

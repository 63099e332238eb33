#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_runner.hpp"
#include "json_schema.hpp"
#include "key_streams.hpp"

namespace tally::test {

/// The bytes of a key, or with the name "line" of its line, by the rule of docs/json.md.
inline std::string bytes_in(const nlohmann::json& object, const std::string& name = "key") {
  if (!object.contains(name + "_hex")) return object.at(name);
  const std::string digits = object.at(name + "_hex");
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// What a command that prints keys printed under --json: an object a key, and a summary.
struct KeyReport {
  int exit_code = -1;
  std::vector<std::string> keys;
  nlohmann::json summary;
  std::string error;
};

/// Also holds the first lines and the last one against the schema.
inline KeyReport run_for_keys(std::vector<std::string> arguments, const std::string& input) {
  arguments.emplace_back("--json");
  const std::string command = arguments.front();
  const CommandResult result = run_tally(std::move(arguments), input);
  KeyReport report{.exit_code = result.exit_code, .keys = {}, .summary = {}, .error = result.error};
  constexpr std::size_t most_checked = 100;
  const std::vector<std::string> lines = split_keys(result.output);
  for (const std::string& line : lines) {
    const auto json = nlohmann::json::parse(line);
    if (report.keys.size() < most_checked || &line == &lines.back()) {
      EXPECT_EQ(JsonSchema::of_the_command().check(command, json).errors, std::vector<std::string>());
    }
    if (json.contains("summary")) {
      report.summary = json["summary"];
    } else {
      report.keys.push_back(bytes_in(json));
    }
  }
  return report;
}

}  // namespace tally::test

#include "key_report.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "command_runner.hpp"
#include "json_schema.hpp"
#include "key_streams.hpp"

namespace tally::test {

std::string bytes_in(const nlohmann::json& object, const std::string& name) {
  if (!object.contains(name + "_hex")) return object.at(name);
  const std::string digits = object.at(name + "_hex");
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> values;
  for (const std::string& line : split_keys(text)) values.push_back(nlohmann::json::parse(line));
  return values;
}

KeyReport run_for_keys(std::vector<std::string> arguments, const std::string& input) {
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

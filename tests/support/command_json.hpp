#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_runner.hpp"

namespace tally::test {

/// What `tally` prints with these arguments and --json, and expects this exit status.
inline nlohmann::json json_of(std::vector<std::string> arguments, std::string_view input = "",
                              int exit_code = 0) {
  arguments.emplace_back("--json");
  const CommandResult result = run_tally(std::move(arguments), input);
  EXPECT_EQ(result.exit_code, exit_code) << result.output << result.error;
  return nlohmann::json::parse(result.output);
}

}  // namespace tally::test

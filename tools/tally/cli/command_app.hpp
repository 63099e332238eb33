#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_status.hpp"

namespace tally::cli {

/// A command of CLI11 with what it has no place for.
class CommandApp : public CLI::App {
 public:
  CommandApp(std::string description, std::string name, CLI::App* parent)
      : CLI::App(std::move(description), std::move(name), parent) {}

  ExitStatus exit_status;
  std::string config_option;  ///< the option that names a file with further options; empty if there is none
  std::map<std::string, std::vector<std::string>> suggestions;  ///< by the name of a positional argument
};

}  // namespace tally::cli

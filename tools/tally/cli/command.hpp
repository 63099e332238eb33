#pragma once

#include <functional>
#include <string_view>
#include <vector>
#include "cli/command_line.hpp"

namespace tally::cli {

/// As in grep: 0 something was found, reported or done; 1 nothing was; 2 an error.
enum class ExitCode : int { success = 0, none = 1, error = 2 };

/// The command's work, once its options are parsed.
using Run = std::function<ExitCode()>;

/// A line of the command table.
///
/// `declare` adds the command's options to `app` and returns what to run. It stores the options in a
/// shared_ptr that the Run captures, so that they live as long as the Run.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line, no full stop
  std::string_view group;    ///< heading in `tally --help`
  Run (*declare)(CommandLine app);
  std::string_view examples;  ///< lines of "command  # what it does"; a newline at the start is left out
};

/// Every command, in the order of `tally --help`.
const std::vector<Command>& commands();

}  // namespace tally::cli

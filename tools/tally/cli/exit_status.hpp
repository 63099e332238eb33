#pragma once

#include <string>

namespace tally::cli {

/// When a command ends with which status: "if keys were added", "if the input had none".
struct ExitStatus {
  std::string success = {};              ///< 0
  std::string none = {};                 ///< 1; empty if the command never ends with it
  std::string error = "after an error";  ///< 2

  bool is_known() const { return !success.empty(); }
  /// "Exit status: 0 if keys were added, 1 if the input had none, 2 after an error."
  std::string text() const {
    return "Exit status: 0 " + success + (none.empty() ? "" : ", 1 " + none) + ", 2 " + error + ".";
  }
};

}  // namespace tally::cli

#pragma once

#include <map>
#include <sstream>
#include <string>

#include "command_runner.hpp"

namespace tally::test {

/// What `tally --generate markdown` says of every command, by its name ("query", "squid build"): from the command's
/// own list, so that a test that has to know them all finds a new one.
inline std::map<std::string, std::string> command_pages() {
  std::map<std::string, std::string> pages;
  std::istringstream lines(run_tally({"--generate", "markdown"}).output);
  std::string* page = nullptr;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name_at = line.find("# tally ");
    if (name_at != std::string::npos && line.find_first_not_of('#') == name_at + 1) {
      page = &pages[line.substr(name_at + 8)];
    } else if (page != nullptr) {
      *page += line + "\n";
    }
  }
  return pages;
}

}  // namespace tally::test

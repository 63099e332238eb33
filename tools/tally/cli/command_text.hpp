#pragma once

#include <string>
#include <string_view>
#include <vector>
#include "cli/command_line.hpp"

namespace tally::cli {

/// An option or positional, as its declaration says.
struct OptionText {
  std::vector<std::string> names;    ///< "-o", "--output"; a positional's one name
  std::string argument;              ///< "FILE", or "[FILE]" if it may be left out; empty for flags
  std::vector<std::string> choices;  ///< the words it takes, where those are few
  std::string description;
  std::string group;  ///< heading
  bool required = false;
  bool repeats = false;

  bool takes_file() const { return argument == "FILE" || argument == "[FILE]" || argument == "DIR"; }
  bool argument_is_optional() const { return argument.starts_with('['); }
  std::string shown() const;  ///< "-o, --output FILE"
};

/// A command, as its App says: what help, man page and completions are made from.
struct CommandText {
  std::string name;     ///< "tally build"
  std::string summary;  ///< the description's first line
  std::string details;  ///< the rest
  std::string group;
  std::string examples;
  std::vector<OptionText> positionals;
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  std::string word() const { return name.substr(name.rfind(' ') + 1); }
  std::string usage() const;
  /// The headings of the options, in order of appearance.
  std::vector<std::string> option_groups() const;
};

CommandText describe(CommandLine app, const std::string& prefix = "");

}  // namespace tally::cli

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/exit_status.hpp"

namespace tally::cli {

/// An option or positional argument, as declared.
struct OptionText {
  std::vector<std::string> names;        ///< "-o", "--output"; the only name of a positional argument
  std::string argument;                  ///< "FILE", or "[FILE]" if it is optional; empty for flags
  std::vector<std::string> choices;      ///< the words it accepts, if they are few
  std::vector<std::string> suggestions;  ///< words that completions offer; others are accepted, too
  std::string description;
  std::string group;  ///< heading
  bool required = false;
  bool repeats = false;

  bool takes_file() const { return argument == "FILE" || argument == "[FILE]" || argument == "DIR"; }
  bool argument_is_optional() const { return argument.starts_with('['); }
  std::string shown() const;  ///< "-o, --output FILE"
};

/// A command as it was declared: the source of its help, man page and completions.
struct CommandText {
  std::string name;     ///< "tally build"
  std::string summary;  ///< the description's first line
  std::string details;  ///< the rest
  ExitStatus exit_status;
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

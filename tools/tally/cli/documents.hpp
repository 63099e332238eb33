#pragma once

#include <string>
#include <string_view>
#include "cli/command_line.hpp"

#include "cli/command_text.hpp"

// Help, man page and shell completions, all generated from the declared commands and options.

namespace tally::cli {

/// A document that the program prints about itself.
struct WantedDocument {
  std::string kind;     ///< one that --generate accepts; empty if none is wanted
  std::string command;  ///< of which alone; empty: of the program
};

/// Declares what the program is for, its version and --generate.
void describe_program(Program& program, WantedDocument& document);
/// Adds text on a command beyond its summary, which the help prints before its options. Blank lines separate
/// paragraphs.
void add_details(CommandLine app, std::string_view details);

/// Help for the given command, or for the program.
std::string help_text(const Program& program);
/// Whether a word that should be a command is not one.
bool names_no_command(const Program& program);
/// The error, and where to read more.
std::string parse_error_text(const Program& program);
/// Throws std::invalid_argument if there is no such document.
std::string generate_document(CommandLine app, const WantedDocument& document);

std::string man_page(const CommandText& program, std::string_view version);
/// tally-build(1)
std::string man_page_of(const CommandText& program, const CommandText& command, std::string_view version);
/// docs/cli.md
std::string markdown_page(const CommandText& program);
std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

}  // namespace tally::cli

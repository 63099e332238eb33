#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

// Help, man page and shell completions, all made from the App tree: the options as they
// are declared are their one source.

namespace tally::cli {

/// Name, version, --help and --generate of the program itself.
void describe_program(CLI::App& app, std::string& document);
/// What `--help` shows under "Examples".
void set_examples(CLI::App& app, std::string_view examples);

/// Help of the command that was asked about, or of the program.
std::string help_text(const CLI::App& app);
/// One line: the command, what is wrong, and where to read more.
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error);
/// `kind` is man, bash, zsh or fish.
std::string generate_document(const CLI::App& app, std::string_view kind);

}  // namespace tally::cli

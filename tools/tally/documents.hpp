#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "command_text.hpp"

// Help, man page and shell completions, all made from the App tree: the options as they
// are declared are their one source.

namespace tally::cli {

/// Name, version, --help and --generate of the program itself.
void describe_program(CLI::App& app, std::string& document);
/// What a command does beyond its summary, before its options in the help. Blank lines part paragraphs.
void add_details(CLI::App& app, std::string_view details);

/// Help of the command that was asked about, or of the program.
std::string help_text(const CLI::App& app);
/// Once all is parsed: throws CLI::ValidationError for an option that was given an empty text, which nothing takes.
void refuse_empty_values(const CLI::App& app);
/// Whether a word stands where a command is expected and is none.
bool names_no_command(const CLI::App& app);
/// What is wrong, and where to read more.
std::string parse_error_text(const CLI::App& app, const CLI::Error& error);
/// `kind` is man, bash, zsh, fish or markdown.
std::string generate_document(const CLI::App& app, std::string_view kind);

std::string man_page(const CommandText& program, std::string_view version);
/// docs/cli.md
std::string markdown_page(const CommandText& program);
std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

}  // namespace tally::cli

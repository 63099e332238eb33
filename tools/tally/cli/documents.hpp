#pragma once

#include <string>
#include <string_view>
#include "cli/command_line.hpp"

#include "cli/command_text.hpp"

// Help, man page and shell completions, all made from the App tree: the options as they
// are declared are their one source.

namespace tally::cli {

inline constexpr const char* program_description =
    "Have I seen this key, and how often?\n\n"
    "Sets and counts that change, in little memory, with an error that is planned, measured and stated.\n\n"
    "Keys are read one a line from files or standard input, compressed (.gz, .zst, .xz, .bz2, .lz4) or "
    "not. Results go to "
    "standard output, everything else to standard error. Exit status as grep's: 0 if something was found "
    "or "
    "done, 1 if nothing was, 2 after an error.";
inline constexpr const char* program_footer =
    "tally help COMMAND  # options and examples of a command, as tally COMMAND --help";

/// Version and --generate of the program itself.
void describe_program(Program& program, std::string& document);
/// What a command does beyond its summary, before its options in the help. Blank lines part paragraphs.
void add_details(CommandLine app, std::string_view details);

/// Help of the command that was asked about, or of the program.
std::string help_text(const Program& program);
/// Whether a word stands where a command is expected and is none.
bool names_no_command(const Program& program);
/// What is wrong, and where to read more.
std::string parse_error_text(const Program& program);
/// `kind` is man, bash, zsh, fish or markdown.
std::string generate_document(CommandLine app, std::string_view kind);

std::string man_page(const CommandText& program, std::string_view version);
/// docs/cli.md
std::string markdown_page(const CommandText& program);
std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

}  // namespace tally::cli

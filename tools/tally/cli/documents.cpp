#include "cli/documents.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "cli/options.hpp"
#include "cli/suggestion.hpp"
#include "json_catalogue/catalogue.hpp"
#include "tally/version.hpp"
#include "text/output.hpp"
#include "text/style.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {

namespace {

constexpr std::size_t description_column = 28;

std::string option_line(const OptionText& option) {
  const std::string shown = option.shown();
  std::string line = "  " + shown;
  line += line.size() + 2 > description_column ? "\n" + std::string(description_column, ' ')
                                               : std::string(description_column - line.size(), ' ');
  std::string description = option.description;
  if (option.choices.size() > 4) description += fmt::format(". One of: {}", fmt::join(option.choices, ", "));
  return line + wrapped(description, description_column) + "\n";
}

std::string heading(std::string_view text) {
  return fmt::format("\n{}\n", styled(Style::heading, fmt::format("{}:", text), STDOUT_FILENO));
}

std::string indented(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    text += fmt::format("  {}", lines.substr(0, end));
    lines.remove_prefix(end);
  }
  return text;
}

std::string help_of(const CommandText& command) {
  std::string text = fmt::format("{}\n\nUsage: {}\n", command.summary, command.usage());
  if (!command.details.empty()) text += "\n" + wrapped("\n" + command.details, 0).substr(1) + "\n";
  if (command.exit_status.is_known()) text += "\n" + wrapped(command.exit_status.text(), 0) + "\n";

  std::vector<std::string> groups;
  for (const CommandText& sub : command.commands) {
    if (std::find(groups.begin(), groups.end(), sub.group) == groups.end()) groups.push_back(sub.group);
  }
  const std::size_t column =
      4 + std::accumulate(
              command.commands.begin(), command.commands.end(), std::size_t{8},
              [](std::size_t width, const CommandText& sub) { return std::max(width, sub.word().size()); });
  for (const std::string& group : groups) {
    text += heading(group);
    for (const CommandText& sub : command.commands) {
      if (sub.group != group) continue;
      text += fmt::format("  {:<{}}{}\n", sub.word(), column - 2, wrapped(sub.summary, column));
    }
  }
  if (!command.positionals.empty()) text += heading("Arguments");
  for (const OptionText& positional : command.positionals) {
    OptionText shown = positional;
    shown.argument.clear();
    text += option_line(shown);
  }
  for (const std::string& group : command.option_groups()) {
    text += heading(group);
    for (const OptionText& option : command.options) {
      if (option.group == group) text += option_line(option);
    }
  }
  if (!command.examples.empty()) text += heading("Examples") + indented(command.examples);
  if (text.back() != '\n') text += '\n';
  return text;
}

// The deepest command that was called, described with its full name: "tally squid build".
CommandText describe_called(CommandLine command) {
  std::string prefix;
  while (command.called() != command) {
    prefix += (prefix.empty() ? "" : " ") + command.name();
    command = command.called();
  }
  return describe(command, prefix);
}

std::vector<std::string> command_words(const CommandText& command) {
  std::vector<std::string> words;
  for (const CommandText& sub : command.commands) words.push_back(sub.word());
  return words;
}

// The commands, if they are few.
std::string list_of_commands(const CommandText& command) {
  constexpr std::size_t few = 8;
  if (command.commands.size() > few) return "";
  return fmt::format("; the commands are: {}", fmt::join(command_words(command), ", "));
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

// For words that no option and no command accepted.
std::string unexpected_text(const CommandText& command, const std::vector<std::string>& words) {
  if (!command.commands.empty() && !is_option(words.front())) {
    const std::string suggestion = did_you_mean(words.front(), command_words(command));
    return fmt::format("no command '{}'{}", words.front(),
                       suggestion.empty() ? list_of_commands(command) : suggestion);
  }
  const auto option = std::ranges::find_if(words, is_option);
  if (option == words.end()) return fmt::format("unexpected argument '{}'", words.front());
  std::vector<std::string> names;
  for (const OptionText& known : command.options)
    names.insert(names.end(), known.names.begin(), known.names.end());
  const std::string name = option->substr(0, option->find('='));
  return fmt::format("unknown option '{}'{}", name, did_you_mean(name, names));
}

}  // namespace

void describe_program(Program& program, WantedDocument& document) {
  CommandLine command_line = program.command_line();
  command_line.set_description(unfolded(R"(
      Have you seen this key, and how often?

      Sets and counts that change, in little memory, with a planned, measured and reported false positive rate.

      Keys are read one per line from files or standard input, compressed (.gz, .zst, .xz, .bz2, .lz4) or not.
      Results go to standard output, everything else to standard error. Exit status, as in grep: 0 if something
      was found or done, 1 if nothing was, 2 after an error. What a run does is what its command line says; only
      'tally node' also takes options from a file (--config) and from the environment.
      )"));
  command_line.set_footer(
      "tally help COMMAND  # options and examples of a command; the same as tally COMMAND --help");
  program.set_version(
      fmt::format("tally {}", version()),
      "Print the versions of the program and of its JSON and the instruction set in use, and exit");
  add_choice(command_line, "--generate", document.kind,
             "Print the man page, completions for a shell, docs/cli.md, docs/json.md, or the schema of all "
             "JSON, and exit",
             {"man", "bash", "zsh", "fish", "markdown", "json", "json-schema"});
  command_line.add_option("--of", document.command, "With --generate man: the man page of this command alone")
      .type_name("COMMAND")
      .needs(command_line.get_option("--generate"));
}

void add_details(CommandLine app, std::string_view details) {
  app.set_description(fmt::format("{}\n\n{}", app.description(), unfolded(details)));
}

std::string help_text(const Program& program) { return help_of(describe_called(program.command_line())); }

bool names_no_command(const Program& program) {
  const std::vector<std::string>& words = program.error().unexpected;
  return !words.empty() && !is_option(words.front()) &&
         !describe_called(program.command_line()).commands.empty();
}

std::string parse_error_text(const Program& program) {
  const CommandText command = describe_called(program.command_line());
  const ParseError& error = program.error();
  const std::string name =
      error.command.empty() ? command.name : fmt::format("{} {}", command.name, error.command);
  set_command_name(name);
  std::string message = error.message;
  if (!error.unexpected.empty() && (error.is_unexpected || names_no_command(program))) {
    message = unexpected_text(command, error.unexpected);
  } else if (error.is_missing && !command.commands.empty()) {
    message = "no command given" + list_of_commands(command);
  } else if (error.is_missing) {
    message += fmt::format("\nUsage: {}", command.usage());
  }
  return fmt::format("{}\nSee '{} --help'.", message, name);
}

std::string generate_document(CommandLine app, const WantedDocument& document) {
  const std::string& kind = document.kind;
  if (!document.command.empty() && kind != "man")
    throw std::invalid_argument(
        fmt::format("--of: it is for --generate man, not for {}; leave it out", kind));
  if (kind == "json") return json_page();
  if (kind == "json-schema") return json_schema();
  const CommandText program = describe(app);
  if (kind == "man" && !document.command.empty()) {
    const auto command = std::ranges::find(program.commands, document.command, &CommandText::word);
    if (command == program.commands.end()) {
      throw std::invalid_argument(fmt::format("--of: '{}' is not one of: {}", document.command,
                                              fmt::join(command_words(program), ", ")));
    }
    return man_page_of(program, *command, version());
  }
  if (kind == "man") return man_page(program, version());
  if (kind == "bash") return bash_completion(program);
  if (kind == "markdown") return markdown_page(program);
  if (kind == "zsh") return zsh_completion(program);
  return fish_completion(program);
}

}  // namespace tally::cli

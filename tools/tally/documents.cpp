#include "documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "options.hpp"
#include "output.hpp"
#include "tally/version.hpp"

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

  std::vector<std::string> groups;
  for (const CommandText& sub : command.commands) {
    if (std::find(groups.begin(), groups.end(), sub.group) == groups.end()) groups.push_back(sub.group);
  }
  const std::size_t column =
      4 + std::accumulate(
              command.commands.begin(), command.commands.end(), std::size_t{8},
              [](std::size_t width, const CommandText& sub) { return std::max(width, sub.word().size()); });
  for (const std::string& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const CommandText& sub : command.commands) {
      if (sub.group != group) continue;
      text += fmt::format("  {:<{}}{}\n", sub.word(), column - 2, wrapped(sub.summary, column));
    }
  }
  if (!command.positionals.empty()) text += "\nArguments:\n";
  for (const OptionText& positional : command.positionals) {
    OptionText shown = positional;
    shown.argument.clear();
    text += option_line(shown);
  }
  for (const std::string& group : command.option_groups()) {
    text += fmt::format("\n{}:\n", group);
    for (const OptionText& option : command.options) {
      if (option.group == group) text += option_line(option);
    }
  }
  if (!command.examples.empty()) text += "\nExamples:\n" + indented(command.examples);
  if (text.back() != '\n') text += '\n';
  return text;
}

// The deepest command that was named, and its name with those above it.
const CLI::App* named_command(const CLI::App& app, std::string& name) {
  const CLI::App* deepest = &app;
  name = app.get_name();
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().back();
    name += " " + deepest->get_name();
  }
  return deepest;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = candidate.starts_with(word) ? 1 : edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

// For words that no option and no command took.
std::string unexpected_text(const CommandText& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() < 2 || word[0] != '-' || word == "--") continue;
    std::vector<std::string> names;
    for (const OptionText& option : command.options)
      names.insert(names.end(), option.names.begin(), option.names.end());
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option '{}'{}", name, did_you_mean(name, names));
  }
  if (command.commands.empty()) return fmt::format("'{}' was not expected", words.front());
  std::vector<std::string> names;
  for (const CommandText& sub : command.commands) names.push_back(sub.word());
  return fmt::format("no command '{}'{}", words.front(), did_you_mean(words.front(), names));
}

}  // namespace

void describe_program(CLI::App& app, std::string& document) {
  app.name("tally");
  app.description(
      "Have I seen this key, and how often?\n\n"
      "Sets and counts that change, in little memory, with an error that is planned, measured and stated.\n\n"
      "Keys are read one a line from files or standard input, compressed (.gz, .zst, .xz, .bz2, .lz4) or "
      "not. Results go to "
      "standard output, everything else to standard error. Exit status as grep's: 0 if something was found "
      "or "
      "done, 1 if nothing was, 2 after an error.");
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", fmt::format("tally {}", version()),
                       "Print the version and the instruction set in use, and exit");
  add_choice(app, "--generate", document,
             "Print the man page, completions for a shell, or docs/cli.md, and exit",
             {"man", "bash", "zsh", "fish", "markdown"});
  app.footer("tally COMMAND --help  # options and examples of a command");
}

void add_details(CLI::App& app, std::string_view details) {
  app.description(fmt::format("{}\n\n{}", app.get_description(), details));
}

std::string help_text(const CLI::App& app) {
  std::string name;
  const CLI::App* command = named_command(app, name);
  const std::size_t last = name.rfind(' ');
  return help_of(describe(*command, last == std::string::npos ? "" : name.substr(0, last)));
}

std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error) {
  std::string name;
  const CLI::App* command = named_command(app, name);
  set_command_name(name);
  const std::vector<std::string> extras = app.remaining(true);
  const bool is_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty();
  const std::string message = is_extras ? unexpected_text(describe(*command), extras) : error.what();
  return fmt::format("{}\nSee '{} --help'.", message, name);
}

std::string generate_document(const CLI::App& app, std::string_view kind) {
  const CommandText program = describe(app);
  if (kind == "man") return man_page(program, version());
  if (kind == "bash") return bash_completion(program);
  if (kind == "markdown") return markdown_page(program);
  if (kind == "zsh") return zsh_completion(program);
  return fish_completion(program);
}

}  // namespace tally::cli

#include "cli/command_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/command_app.hpp"

namespace tally::cli {

namespace {

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(text[0]));
  return text;
}

OptionText describe_option(const CLI::Option& option) {
  OptionText text;
  if (option.get_positional()) {
    // "files" is shown as FILE...
    std::string name = option.get_name(true);
    for (char& c : name) c = static_cast<char>(std::toupper(c));
    if (option.get_expected_max() >= CLI::detail::expected_max_vector_size && name.back() == 'S')
      name.pop_back();
    text.names.push_back(name);
  } else {
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  }
  if (option.get_expected_max() > 0 && option.get_type_size() != 0) text.argument = option.get_type_name();
  for (std::size_t begin = 0; text.argument.find('|') != std::string::npos && begin < text.argument.size();) {
    const std::size_t end = std::min(text.argument.find('|', begin), text.argument.size());
    const std::string choice = text.argument.substr(begin, end - begin);
    // A word in capitals is a placeholder for a value.
    if (std::any_of(choice.begin(), choice.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
      text.choices.push_back(choice);
    }
    begin = end + 1;
  }
  text.description = capitalised(option.get_description());
  text.group = option.get_group();
  text.required = option.get_required();
  text.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return text;
}

}  // namespace

std::string OptionText::shown() const {
  std::string argument_shown = argument;
  if (choices.size() > 4) argument_shown = "NAME";  // the description's end lists them
  return fmt::format("{}{}{}", fmt::join(names, ", "), argument.empty() ? "" : " ", argument_shown);
}

std::string CommandText::usage() const {
  std::string text = name;
  for (const OptionText& option : options) {
    if (option.required) text += fmt::format(" {} {}", option.names.front(), option.argument);
  }
  text += " [OPTION]...";
  for (const OptionText& positional : positionals) {
    const std::string shown = positional.names.front() + (positional.repeats ? "..." : "");
    text += positional.required ? " " + shown : fmt::format(" [{}]", shown);
  }
  if (!commands.empty()) text += " COMMAND ...";
  return text;
}

std::vector<std::string> CommandText::option_groups() const {
  std::vector<std::string> groups;
  for (const OptionText& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

namespace {

CommandText describe_app(const CLI::App& app, const std::string& prefix) {
  CommandText text;
  text.name = prefix.empty() ? app.get_name() : prefix + " " + app.get_name();
  const std::string description = app.get_description();
  const std::size_t end = std::min(description.find('\n'), description.size());
  text.summary = capitalised(description.substr(0, end));
  text.details = description.substr(std::min(description.find_first_not_of('\n', end), description.size()));
  const auto* const own = dynamic_cast<const CommandApp*>(&app);
  if (own != nullptr) text.exit_status = own->exit_status;
  text.group = app.get_group();
  text.examples = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? text.positionals : text.options).push_back(describe_option(*option));
    if (own == nullptr) continue;
    const auto words = own->suggestions.find(option->get_name(true));
    if (words != own->suggestions.end()) text.positionals.back().suggestions = words->second;
  }
  // The help flag is declared first by the library and belongs last.
  std::stable_partition(text.options.begin(), text.options.end(), [](const OptionText& option) {
    return option.names.back() != "--help" && option.names.back() != "--version";
  });
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text.commands.push_back(describe_app(*command, text.name));
  }
  return text;
}

}  // namespace

CommandText describe(CommandLine command, const std::string& prefix) {
  return describe_app(command.app(), prefix);
}

}  // namespace tally::cli

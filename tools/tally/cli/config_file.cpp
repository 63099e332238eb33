#include "cli/config_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include "cli/command_app.hpp"

namespace tally::cli {
namespace {

using Words = std::vector<std::string>;

const CommandApp* command_of(const CLI::App& program, const Words& words) {
  if (words.empty()) return nullptr;
  for (const CLI::App* command : program.get_subcommands({}))
    if (command->get_name() == words.front()) return dynamic_cast<const CommandApp*>(command);
  return nullptr;
}

std::optional<std::string> value_of(const Words& words, const std::string& option) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return std::nullopt;
}

bool is_given(const Words& words, const CLI::Option& option) {
  return std::any_of(
      words.begin(), std::find(words.begin(), words.end(), "--"), [&](const std::string& word) {
        const auto is_long = [&](const std::string& name) {
          return word == "--" + name || word.starts_with("--" + name + "=");
        };
        const auto is_short = [&](const std::string& name) { return word.starts_with("-" + name); };
        return std::ranges::any_of(option.get_lnames(), is_long) ||
               std::ranges::any_of(option.get_snames(), is_short);
      });
}

[[noreturn]] void refuse(const std::string& option, const std::string& path, const std::string& why) {
  throw CLI::ValidationError(option, fmt::format("'{}': {}", path, why));
}

Words words_of_file(const CommandApp& command, const std::string& path, const Words& given) {
  const std::string& config = command.config_option;
  std::ifstream file(path);
  if (!file) refuse(config, path, std::generic_category().message(errno));
  const std::vector<CLI::ConfigItem> items = CLI::ConfigTOML().from_config(file);
  if (file.bad()) refuse(config, path, std::generic_category().message(errno));  // a directory
  Words words;
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // the begin and the end of a section
    const bool is_in_section = !item.parents.empty() && item.parents != Words{command.get_name()};
    const CLI::Option* option = command.get_option_no_throw("--" + item.name);
    if (option == nullptr) option = command.get_option_no_throw(item.name);
    if (is_in_section || option == nullptr || "--" + item.name == config)
      refuse(config, path,
             fmt::format("'{}' is not an option of 'tally {}' that a file may have", item.fullname(),
                         command.get_name()));
    if (is_given(given, *option)) continue;
    const bool is_flag = option->get_expected_max() == 0 || option->get_items_expected_max() == 0;
    if (is_flag) {
      if (item.inputs != Words{"true"} && item.inputs != Words{"false"})
        refuse(config, path, fmt::format("'{}' must be true or false", item.name));
      if (item.inputs.front() == "true") words.push_back("--" + item.name);
      continue;
    }
    for (const std::string& value : item.inputs)
      words.push_back(option->get_positional() ? value : fmt::format("--{}={}", item.name, value));
  }
  return words;
}

}  // namespace

std::vector<std::string> with_config_file(const CLI::App& program, const std::vector<std::string>& words) {
  const CommandApp* const command = command_of(program, words);
  if (command == nullptr || command->config_option.empty()) return words;
  const auto path = value_of(words, command->config_option);
  if (!path) return words;
  Words all{words.front()};
  const Words of_file = words_of_file(*command, *path, words);
  all.insert(all.end(), of_file.begin(), of_file.end());
  all.insert(all.end(), words.begin() + 1, words.end());
  return all;
}

}  // namespace tally::cli

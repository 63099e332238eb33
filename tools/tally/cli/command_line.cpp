#include "cli/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cli/command_app.hpp"
#include "cli/config_file.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string> values = option->results();
    if (option->get_expected_min() == 0 || std::ranges::find(values, "") == values.end()) continue;
    const bool is_positional = option->get_positional();
    throw CLI::ValidationError(
        is_positional ? option->get_type_name() : option->get_name(),
        fmt::format("the value is empty; give {} or leave it out",
                    is_positional ? "one" : fmt::format("a {}", option->get_type_name())));
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_empty_values(*command);
}

/// "--name=" as "--name" and an empty value: CLI11 would take the next word for the value.
std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> list;
  bool may_be_option = true;
  for (const std::string& word : words) {
    may_be_option = may_be_option && word != "--";
    const bool is_empty =
        may_be_option && word.starts_with("--") && word.size() > 3 && word.find('=') == word.size() - 1;
    list.push_back(is_empty ? word.substr(0, word.size() - 1) : word);
    if (is_empty) list.emplace_back();
  }
  return list;
}

}  // namespace

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::group(const std::string& heading) const {
  option_->group(heading);
  return *this;
}

Option Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Option Option::expected(std::size_t least, std::size_t most) const {
  static_assert(any_number == CLI::detail::expected_max_vector_size);
  option_->expected(static_cast<int>(least), static_cast<int>(most));
  return *this;
}

Option Option::environment(const std::string& name) const {
  option_->envname(name);
  return *this;
}

Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::excludes(const std::string& name) const {
  option_->excludes(name);
  return *this;
}

Option Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}

bool Option::is_given() const { return option_ != nullptr && option_->count() > 0; }

Option CommandLine::add_option(const std::string& names, std::string& target,
                               const std::string& description) {
  return Option(app_->add_option(names, target, unfolded(description)));
}

Option CommandLine::add_option(const std::string& names, std::vector<std::string>& target,
                               const std::string& description) {
  return Option(app_->add_option(names, target, unfolded(description)));
}

Option CommandLine::add_flag(const std::string& names, bool& target, const std::string& description) {
  return Option(app_->add_flag(names, target, unfolded(description)));
}

Option CommandLine::add_flag(const std::string& names, std::function<void()> given,
                             const std::string& description) {
  return Option(app_->add_flag_callback(names, std::move(given), unfolded(description)));
}

Option CommandLine::add_parsed(const std::string& names, std::function<void(std::string_view)> parse,
                               const std::string& description, const std::string& type_name) {
  // The name that messages use: the first long one, or the name of a positional argument.
  const auto long_name = names.find("--");
  const std::string name = names.substr(long_name == std::string::npos ? 0 : long_name);
  const std::string shown = name.substr(0, name.find(','));
  const auto checked = [parse = std::move(parse), shown](const std::string& text) {
    try {
      parse(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(shown, error.what());
    }
  };
  return Option(
      app_->add_option_function<std::string>(names, checked, unfolded(description))->type_name(type_name));
}

Option CommandLine::add_config(const std::string& name, const std::string& description) {
  dynamic_cast<CommandApp&>(*app_).config_option = name;
  const auto is_read_before = [](const std::string&) {};
  return Option(
      app_->add_option_function<std::string>(name, is_read_before, unfolded(description))->type_name("FILE"));
}

CommandLine CommandLine::add_command(std::string_view name, std::string_view summary, std::string_view group,
                                     std::string_view examples) {
  CLI::App* const command =
      app_->add_subcommand(std::make_shared<CommandApp>(std::string(summary), std::string(name), app_));
  command->group(std::string(group));
  command->footer(std::string(examples.substr(examples.starts_with('\n') ? 1 : 0)));
  return CommandLine(command);
}

void CommandLine::set_suggestions(const std::string& argument, std::vector<std::string> words) {
  dynamic_cast<CommandApp&>(*app_).suggestions[argument] = std::move(words);
}

void CommandLine::set_exit_status(ExitStatus status) {
  dynamic_cast<CommandApp&>(*app_).exit_status = std::move(status);
}

void CommandLine::require_command() { app_->require_subcommand(1); }

Option CommandLine::get_option(const std::string& name) const {
  CLI::Option* const option = app_->get_option_no_throw(name);
  if (option == nullptr) throw std::out_of_range("there is no option " + name);
  return Option(option);
}

bool CommandLine::has_option(const std::string& name) const {
  return app_->get_option_no_throw(name) != nullptr;
}

std::vector<std::string> CommandLine::values_of(const std::string& name) const {
  const CLI::Option* const option = app_->get_option_no_throw(name);
  return option == nullptr ? std::vector<std::string>{} : option->results();
}

bool CommandLine::was_given(std::string_view word) const {
  const CLI::App& app = *app_;
  return std::ranges::any_of(app.get_options(), [&](const CLI::Option* option) {
    const std::vector<std::string> given = option->results();
    return std::ranges::find(given, word) != given.end();
  });
}

std::string CommandLine::name() const { return app_->get_name(); }
std::string CommandLine::description() const { return app_->get_description(); }
void CommandLine::set_description(const std::string& text) { app_->description(text); }
void CommandLine::set_footer(const std::string& text) { app_->footer(text); }
bool CommandLine::was_called() const { return app_->parsed(); }

CommandLine CommandLine::called() const {
  const std::vector<CLI::App*> commands = app_->get_subcommands();
  return commands.empty() ? *this : CommandLine(commands.back());
}

Program::Program(const std::string& name) : app_(std::make_unique<CLI::App>("", name)) {
  app_->require_subcommand(0, 1);
  app_->set_help_flag("-h,--help", "Print this help and exit");
}

Program::~Program() = default;

void Program::set_version(const std::string& text, const std::string& description) {
  app_->set_version_flag("-V,--version", text, description);
}

CommandLine Program::command_line() const { return CommandLine(app_.get()); }

Program::Outcome Program::parse(std::vector<std::string> words) {
  std::string reading_file_of;
  const auto failed = [&](const CLI::Error& error) {
    error_ = {.message = error.what(),
              .is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr,
              .is_unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr,
              .unexpected = app_->remaining(true),
              .command = reading_file_of};
  };
  try {
    if (!words.empty()) reading_file_of = words.front();
    words = with_empty_values(with_config_file(*app_, words));
    reading_file_of.clear();
    std::ranges::reverse(words);  // the order that CLI11 expects
    app_->parse(std::move(words));
    refuse_empty_values(*app_);
    return Outcome::parsed;
  } catch (const CLI::CallForHelp& help) {
    failed(help);
    return Outcome::help;
  } catch (const CLI::CallForVersion& version) {
    failed(version);
    return Outcome::version;
  } catch (const CLI::ParseError& error) {
    failed(error);
    return Outcome::refused;
  }
}

}  // namespace tally::cli

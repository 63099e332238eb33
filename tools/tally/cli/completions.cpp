#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cli/documents.hpp"

namespace tally::cli {

namespace {

// Within single quotes of bash and zsh.
std::string single_quoted(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result;
}

// Within the [...] of a zsh argument specification in single quotes.
std::string zsh_description(std::string_view text) {
  std::string result;
  for (const char c : single_quoted(text)) {
    if (c == '[' || c == ']' || c == ':') result += '\\';
    result += c;
  }
  return result;
}

// Within single quotes of fish.
std::string fish_quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

void for_each_command(const CommandText& command, const std::function<void(const CommandText&)>& use) {
  use(command);
  for (const CommandText& sub : command.commands) for_each_command(sub, use);
}

std::vector<std::string> words_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> words;
  for (const CommandText& command : commands) words.push_back(command.word());
  return words;
}

bool takes_files(const CommandText& command) {
  return std::ranges::any_of(command.positionals, &OptionText::takes_file);
}

// What arguments may be, if they are no files.
std::vector<std::string> suggestions_of(const CommandText& command) {
  std::vector<std::string> all;
  for (const OptionText& positional : command.positionals)
    all.insert(all.end(), positional.suggestions.begin(), positional.suggestions.end());
  return all;
}

std::string function_name(const CommandText& command) {
  std::string name = "_" + command.name;
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c;
  return name;
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  std::string cases;
  std::string commands;
  for_each_command(program, [&](const CommandText& command) {
    std::vector<std::string> flags;
    std::string values;
    for (const OptionText& option : command.options) {
      flags.insert(flags.end(), option.names.begin(), option.names.end());
      if (option.argument.empty()) continue;
      std::string action = ":";
      if (!option.choices.empty()) {
        action =
            fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", fmt::join(option.choices, " "));
      } else if (option.takes_file()) {
        action = "COMPREPLY=($(compgen -f -- \"$current\"))";
      }
      values += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"), action);
    }
    if (!command.commands.empty()) {
      commands += fmt::format("      '{}') known='{}' ;;\n", command.name,
                              fmt::format("{}", fmt::join(words_of(command.commands), " ")));
    }
    cases += fmt::format("    '{}')\n", command.name);
    if (!values.empty()) cases += fmt::format("      case \"$previous\" in\n{}      esac\n", values);
    std::vector<std::string> words = words_of(command.commands);
    for (const std::string& word : suggestions_of(command)) words.push_back(word);
    cases += fmt::format("      words='{} {}'\n      files={}\n      ;;\n", fmt::join(words, " "),
                         fmt::join(flags, " "), takes_files(command) ? 1 : 0);
  });
  return fmt::format(R"(# bash completion for tally, made by "tally --generate bash"
_tally() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=tally known words files word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    known=
    case "$command" in
{}    esac
    for word in $known; do
      [[ $word == "${{COMP_WORDS[i]}}" ]] && {{ command="$command $word"; break; }}
    done
  done
  case "$command" in
{}  esac
  if [[ $current == -* || $files == 0 ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _tally tally
)",
                     commands, cases);
}

std::string zsh_completion(const CommandText& program) {
  std::string functions;
  for_each_command(program, [&](const CommandText& command) {
    std::string specs;
    for (const OptionText& option : command.options) {
      std::string value;
      if (!option.choices.empty()) {
        value = fmt::format(":value:({})", fmt::join(option.choices, " "));
      } else if (option.takes_file()) {
        value = option.argument_is_optional() ? "::file:_files" : ":file:_files";
      } else if (!option.argument.empty()) {
        value = fmt::format(":{}: ", zsh_description(option.argument));
      }
      for (const std::string& name : option.names) {
        specs += fmt::format("    '{}[{}]{}' \\\n", name, zsh_description(option.description), value);
      }
    }
    if (command.commands.empty()) {
      const std::vector<std::string> words = suggestions_of(command);
      const std::string arguments = takes_files(command) ? "file:_files"
                                    : words.empty()      ? "argument: "
                                                    : fmt::format("argument:({})", fmt::join(words, " "));
      functions += fmt::format("{}() {{\n  _arguments -s \\\n{}    '*:{}'\n}}\n\n", function_name(command),
                               specs, arguments);
      return;
    }
    std::string list;
    std::string calls;
    for (const CommandText& sub : command.commands) {
      list += fmt::format("        '{}:{}'\n", sub.word(), single_quoted(sub.summary));
      calls += fmt::format("        {}) {} ;;\n", sub.word(), function_name(sub));
    }
    functions += fmt::format(R"({}() {{
  local context state state_descr line
  typeset -A opt_args
  local -a commands
  _arguments -C -s \
{}    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      commands=(
{}      )
      _describe command commands
      ;;
    argument)
      case $line[1] in
{}      esac
      ;;
  esac
}}

)",
                             function_name(command), specs, list, calls);
  });
  return fmt::format(
      "#compdef tally\n# zsh completion for tally, made by \"tally --generate zsh\"\n\n{}{} \"$@\"\n",
      functions, function_name(program));
}

std::string fish_completion(const CommandText& program) {
  std::string text = "# fish completion for tally, made by \"tally --generate fish\"\n";
  for_each_command(program, [&](const CommandText& command) {
    const bool is_program = command.name == program.name;
    const std::string seen =
        is_program ? "__fish_use_subcommand" : fmt::format("__fish_seen_subcommand_from {}", command.word());
    const std::string subs = fmt::format("{}", fmt::join(words_of(command.commands), " "));
    const std::string condition = is_program || subs.empty()
                                      ? seen
                                      : fmt::format("{}; and not __fish_seen_subcommand_from {}", seen, subs);
    for (const CommandText& sub : command.commands) {
      text += fmt::format("complete -c tally -f -n '{}' -a {} -d '{}'\n", condition, sub.word(),
                          fish_quoted(sub.summary));
    }
    const std::vector<std::string> words = suggestions_of(command);
    if (!words.empty()) {
      text += fmt::format("complete -c tally -f -n '{}' -a '{}'\n", condition, fmt::join(words, " "));
    } else if (command.commands.empty() && !takes_files(command)) {
      text += fmt::format("complete -c tally -f -n '{}'\n", condition);
    }
    for (const OptionText& option : command.options) {
      text += fmt::format("complete -c tally -n '{}'", condition);
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        text += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      } else if (option.takes_file()) {
        text += option.argument_is_optional() ? " -F" : " -r -F";
      } else if (!option.argument.empty()) {
        text += " -x";
      }
      text += fmt::format(" -d '{}'\n", fish_quoted(option.description));
    }
  });
  return text;
}

}  // namespace tally::cli

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "documents.hpp"
#include "flag_words.hpp"
#include "instruction_set.hpp"
#include "output.hpp"
#include "signals.hpp"
#include "tally/serialization/file_kind.hpp"

namespace tally::cli {

namespace {

struct Declared {
  CLI::App* app;
  Run run;
};

// Of a command that is called by name, no other is declared: the options of all of them take more memory than
// some commands do.
std::vector<Declared> declare_commands(CLI::App& app, std::string_view called) {
  const bool is_called =
      std::ranges::any_of(commands(), [&](const Command& command) { return command.name == called; });
  std::vector<Declared> declared;
  for (const Command& command : commands()) {
    if (is_called && command.name != called) continue;
    CLI::App* own = app.add_subcommand(std::string(command.name), std::string(command.summary));
    own->group(std::string(command.group));
    own->footer(std::string(command.examples));
    Run run = command.declare(*own);
    declared.push_back({own, std::move(run)});
  }
  return declared;
}

/// Which commands read a file of the kind.
std::string_view who_reads(FileKind kind) {
  switch (kind) {
    case FileKind::top_keys:
    case FileKind::space_saving:
      return "'tally top --from' prints its keys, 'tally merge' merges such files, 'tally info' shows it";
    case FileKind::count_min_window:
      return "'tally merge' merges such files, 'tally info' shows it";
    default:
      return "'tally query' or 'tally count' asks it, 'tally merge' merges such files, 'tally info' shows it";
  }
}

ExitCode fail(std::string_view message) {
  remark(false, message);
  return ExitCode::error;
}

// What stands after the program's name; "help over" is "over --help".
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

// The library's refusals in the words of whoever called the command.
ExitCode run_translated(const Declared& command) {
  try {
    return command.run();
  } catch (const std::invalid_argument& error) {
    const std::vector<CLI::App*> actions = command.app->get_subcommands();
    throw std::invalid_argument(in_words_of(actions.empty() ? *command.app : *actions.front(), error.what()));
  }
}

ExitCode run(int argc, char** argv) {
  take_instruction_set_from_environment();
  CLI::App app;
  std::string document;
  describe_program(app, document);
  std::vector<std::string> words = words_of(argc, argv);
  const std::vector<Declared> declared = declare_commands(app, words.empty() ? "" : words.front());
  try {
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    refuse_empty_values(app);
  } catch (const CLI::CallForHelp& help) {
    if (names_no_command(app)) return fail(parse_error_text(app, help));
    print(help_text(app));
    return ExitCode::success;
  } catch (const CLI::CallForVersion& version) {
    print(fmt::format("{}\n{}\n", version.what(), instruction_set_text()));
    return ExitCode::success;
  } catch (const CLI::ParseError& error) {
    return fail(parse_error_text(app, error));
  }
  if (!document.empty()) {
    print(generate_document(app, document));
    return ExitCode::success;
  }
  for (const Declared& command : declared) {
    if (!command.app->parsed()) continue;
    set_command_name("tally " + command.app->get_name());
    return run_translated(command);
  }
  return fail("no command given; see 'tally --help'");
}

}  // namespace
}  // namespace tally::cli

int main(int argc, char** argv) {
  using namespace tally::cli;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is seen as EPIPE
  install_stop_handler();
  const auto translated = [&] {
    try {
      return run(argc, argv);
    } catch (const ClosedPipe&) {
      return ExitCode::success;
    } catch (const std::bad_alloc&) {
      return fail("not enough memory; ask for less with --memory or fewer keys");
    } catch (const tally::FileKindError& error) {
      return fail(fmt::format("{}; {}", error.what(), who_reads(error.kind())));
    } catch (const std::exception& error) {  // invalid_argument, FormatError, system_error, ...
      return fail(error.what());
    }
  };
  return static_cast<int>(translated());
}

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

ExitCode run(int argc, char** argv) {
  take_instruction_set_from_environment();
  CLI::App app;
  std::string document;
  describe_program(app, document);
  const std::vector<Declared> declared = declare_commands(app, argc > 1 ? argv[1] : "");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
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
    return command.run();
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

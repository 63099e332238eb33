#include <fmt/format.h>

#include <csignal>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "documents.hpp"
#include "output.hpp"
#include "signals.hpp"

namespace tally::cli {

namespace {

struct Declared {
  CLI::App* app;
  Run run;
};

std::vector<Declared> declare_all(CLI::App& app) {
  std::vector<Declared> declared;
  for (const Command& command : commands()) {
    CLI::App* own = app.add_subcommand(std::string(command.name), std::string(command.summary));
    own->group(std::string(command.group));
    own->footer(std::string(command.examples));
    Run run = command.declare(*own);
    declared.push_back({own, std::move(run)});
  }
  return declared;
}

ExitCode fail(std::string_view message) {
  remark(false, message);
  return ExitCode::error;
}

ExitCode run(int argc, char** argv) {
  CLI::App app;
  std::string document;
  describe_program(app, document);
  const std::vector<Declared> declared = declare_all(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(help_text(app));
    return ExitCode::success;
  } catch (const CLI::CallForVersion& version) {
    print(fmt::format("{}\n", version.what()));
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
    } catch (const std::exception& error) {  // invalid_argument, FormatError, system_error, ...
      return fail(error.what());
    }
  };
  return static_cast<int>(translated());
}

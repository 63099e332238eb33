#include "documents.hpp"

#include <fmt/format.h>

#include "options.hpp"
#include "output.hpp"

#ifndef TALLY_VERSION
#define TALLY_VERSION "0.1.0"
#endif

namespace tally::cli {

void describe_program(CLI::App& app, std::string& document) {
  app.name("tally");
  app.description("Have I seen this key, and how often? Sets and counts that change, in little memory,\n"
                  "with an error that is planned, measured and stated.");
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", "tally " TALLY_VERSION, "Print the version and exit");
  add_choice(app, "--generate", document, "Print the man page, or completions for a shell, and exit",
             {"man", "bash", "zsh", "fish"});
}

void set_examples(CLI::App& app, std::string_view examples) {
  app.footer(examples.empty() ? "" : fmt::format("Examples:\n{}", examples));
}

std::string help_text(const CLI::App& app) { return app.help(); }

std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const std::string name = parsed.empty() ? "tally" : "tally " + parsed.front()->get_name();
  set_command_name(name);
  return fmt::format("{}\nSee '{} --help'.", error.what(), name);
}

std::string generate_document(const CLI::App&, std::string_view) { return {}; }

}  // namespace tally::cli

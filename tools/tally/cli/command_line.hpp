#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_status.hpp"

// A facade of CLI11, which reads command lines. Only command_line.cpp, command_text.cpp and config_file.cpp include CLI11
// (and command_app.hpp), which takes three seconds to compile.

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tally::cli {

/// An option, a flag or a positional argument. This is a handle: copies refer to the same option. Functions
/// that declare something return it, so that calls can be chained.
class Option {
 public:
  Option() = default;
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  /// Its heading in the help.
  Option group(const std::string& heading) const;
  /// The name of its value in the help: "FILE".
  Option type_name(const std::string& name) const;
  /// How many values it accepts.
  Option expected(std::size_t least, std::size_t most) const;
  /// The environment variable that is used if the option is not given.
  Option environment(const std::string& name) const;
  Option excludes(const Option& other) const;
  Option excludes(const std::string& name) const;
  Option needs(const Option& other) const;

  bool is_given() const;

  static constexpr std::size_t any_number = std::size_t{1} << 29;

 private:
  CLI::Option* option_ = nullptr;
};

/// A command, or the program itself, while its options are declared and after they were parsed. This is a
/// handle, passed by value.
///
/// `Program::parse` stores the values in the declared targets, which must live until then. Names are those of
/// a flag ("-q,--quiet"), of an option ("-o,--output"), or of a positional argument ("files"). A description is
/// a phrase or sentences, with a capital letter and without the last full stop; it may be a raw string of
/// several lines (`unfolded`).
class CommandLine {
 public:
  explicit CommandLine(CLI::App* app) : app_(app) {}

  Option add_option(const std::string& names, std::string& target, const std::string& description);
  Option add_option(const std::string& names, std::vector<std::string>& target,
                    const std::string& description);
  Option add_flag(const std::string& names, bool& target, const std::string& description);
  Option add_flag(const std::string& names, std::function<void()> given, const std::string& description);
  /// An option whose text `parse` reads. If `parse` throws std::invalid_argument, the message names the option.
  Option add_parsed(const std::string& names, std::function<void(std::string_view)> parse,
                    const std::string& description, const std::string& type_name);
  /// An option that names a file with values for the others (TOML or INI), which those on the command line replace.
  Option add_config(const std::string& name, const std::string& description);
  CommandLine add_command(std::string_view name, std::string_view summary, std::string_view group,
                          std::string_view examples);
  /// Refuses a command line that names none of its commands.
  void require_command();

  /// Throws std::out_of_range if there is no such option.
  Option get_option(const std::string& name) const;
  bool has_option(const std::string& name) const;
  /// The values on the command line; empty if there is no such option.
  std::vector<std::string> values_of(const std::string& name) const;
  /// Whether the word is one of the values of any option.
  bool was_given(std::string_view word) const;

  /// Words that completions offer for a positional argument; others are accepted, too.
  void set_suggestions(const std::string& argument, std::vector<std::string> words);
  void set_exit_status(ExitStatus status);

  std::string name() const;
  std::string description() const;
  void set_description(const std::string& text);
  /// The last paragraph of the help.
  void set_footer(const std::string& text);
  bool was_called() const;
  /// The subcommand that was called; this command itself if none was.
  CommandLine called() const;

  const CLI::App& app() const { return *app_; }
  friend bool operator==(const CommandLine&, const CommandLine&) = default;

 private:
  CLI::App* app_;
};

/// An error in a command line.
struct ParseError {
  std::string message;
  bool is_missing = false;              ///< an option or a command that is required
  bool is_unexpected = false;           ///< words that no option and no command accepted
  std::vector<std::string> unexpected;  ///< these words; they may come with another error
  std::string command;                  ///< whose file of options is wrong; empty for the command line itself
};

/// The program's own command line.
class Program {
 public:
  explicit Program(const std::string& name);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What --version prints after the name; declares -V too.
  void set_version(const std::string& text, const std::string& description);

  CommandLine command_line() const;

  enum class Outcome { parsed, help, version, refused };
  /// `words` are the arguments after the program's name. An empty value is refused.
  Outcome parse(std::vector<std::string> words);
  /// After Outcome::refused; after Outcome::help, the words that no command accepted.
  const ParseError& error() const { return error_; }

 private:
  std::unique_ptr<CLI::App> app_;
  ParseError error_;
};

}  // namespace tally::cli

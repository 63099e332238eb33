#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The facade of the library that reads command lines. Only command_line.cpp and command_text.cpp include that library,
// which takes three seconds to compile.

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tally::cli {

/// An option, a flag or a positional argument. A handle: copies are the same option. Functions that declare something
/// return it, so that calls can be chained.
class Option {
 public:
  Option() = default;
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  /// Its heading in the help.
  Option group(const std::string& heading) const;
  /// What the help calls its value: "FILE".
  Option type_name(const std::string& name) const;
  /// How many values it takes.
  Option expected(std::size_t least, std::size_t most) const;
  /// The environment variable that is taken where the option is not given.
  Option environment(const std::string& name) const;
  Option excludes(const Option& other) const;
  Option excludes(const std::string& name) const;
  Option needs(const Option& other) const;

  bool is_given() const;

  static constexpr std::size_t any_number = std::size_t{1} << 29;

 private:
  CLI::Option* option_ = nullptr;
};

/// A command, or the program itself, as its options are declared and after they were parsed. A handle, passed by value.
///
/// What is declared is set by `Program::parse`, and must live until then. Names are those of a flag ("-q,--quiet"), of an
/// option ("-o,--output"), or of a positional ("files").
class CommandLine {
 public:
  explicit CommandLine(CLI::App* app) : app_(app) {}

  Option add_option(const std::string& names, std::string& target, const std::string& description);
  Option add_option(const std::string& names, std::vector<std::string>& target,
                    const std::string& description);
  Option add_flag(const std::string& names, bool& target, const std::string& description);
  Option add_flag(const std::string& names, std::function<void()> given, const std::string& description);
  /// An option whose text `parse` reads. What it refuses by std::invalid_argument is said with the option's name.
  Option add_parsed(const std::string& names, std::function<void(std::string_view)> parse,
                    const std::string& description, const std::string& type_name);
  CommandLine add_command(std::string_view name, std::string_view summary, std::string_view group,
                          std::string_view examples);
  /// Refuses a command line that names none of its commands.
  void require_command();

  /// Throws std::out_of_range unless there is one.
  Option get_option(const std::string& name) const;
  bool has_option(const std::string& name) const;
  /// What the command line gave; nothing for an option that there is not.
  std::vector<std::string> values_of(const std::string& name) const;
  /// Whether the word is one of the values of any option.
  bool was_given(std::string_view word) const;

  std::string name() const;
  std::string description() const;
  void set_description(const std::string& text);
  bool was_called() const;
  /// The command of this one that was called; itself if there is none.
  CommandLine called() const;

  const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

/// What is wrong with a command line.
struct ParseError {
  std::string message;
  bool is_missing = false;              ///< an option or a command that is required
  bool is_unexpected = false;           ///< words that no option and no command took
  std::vector<std::string> unexpected;  ///< these words; there may be such beside another error
};

/// The program's own command line.
class Program {
 public:
  Program(const std::string& name, const std::string& description, const std::string& footer);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What --version prints after the name; declares -V too.
  void set_version(const std::string& text, const std::string& description);

  CommandLine command_line() const;

  enum class Outcome { parsed, help, version, refused };
  /// `words` are what follows the program's name. An empty text is refused as a value.
  Outcome parse(std::vector<std::string> words);
  /// After Outcome::refused; after Outcome::help, the words that no command took.
  const ParseError& error() const { return error_; }

 private:
  std::unique_ptr<CLI::App> app_;
  ParseError error_;
};

}  // namespace tally::cli

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/documents.hpp"

namespace tally::cli {

namespace {

// Escapes text for roff, so that no backslash, minus or line start is read as a command.
std::string escaped(std::string_view text) {
  std::string result;
  bool line_starts = true;
  for (const char c : text) {
    if (line_starts && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_starts = c == '\n';
  }
  return result;
}

std::string paragraphs(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    result += ".PP\n" + escaped(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return result;
}

std::string item(const OptionText& option) {
  std::string text =
      fmt::format(".TP\n\\fB{}\\fR", escaped(fmt::format("{}", fmt::join(option.names, ", "))));
  if (!option.argument.empty() && option.names.front().starts_with('-')) {
    text += fmt::format(" \\fI{}\\fR", escaped(option.choices.size() > 4 ? "NAME" : option.argument));
  }
  text += "\n" + escaped(option.description);
  if (option.choices.size() > 4) {
    text += escaped(fmt::format(". One of: {}", fmt::join(option.choices, ", ")));
  }
  return text + ".\n";
}

// The arguments and options of a command.
std::string items(const CommandText& command) {
  std::string text;
  for (const OptionText& positional : command.positionals) text += item(positional);
  for (const OptionText& option : command.options) {
    if (option.names.back() != "--help") text += item(option);
  }
  return text;
}

std::string page_name(const CommandText& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string as_sentence(std::string text) {
  text.at(0) = static_cast<char>(std::toupper(static_cast<unsigned char>(text.at(0))));
  return text + ".";
}

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string exit_status(const ExitStatus& status) {
  std::string text = ".SH \"EXIT STATUS\"\n";
  for (const auto& [number, meaning] :
       {std::pair{0, status.success}, std::pair{1, status.none}, std::pair{2, status.error}}) {
    if (!meaning.empty()) text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", number, as_sentence(escaped(meaning)));
  }
  return text;
}

std::string see_also(const std::vector<std::string>& pages) {
  std::string text = ".SH \"SEE ALSO\"\n";
  for (const std::string& page : pages) {
    text += fmt::format(".BR {} (1){}\n", escaped(page), &page == &pages.back() ? "" : ",");
  }
  return text;
}

std::string examples(const std::string& lines) {
  return lines.empty() ? "" : fmt::format(".PP\nExamples:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", escaped(lines));
}

void append_command(std::string& page, const CommandText& command) {
  page += fmt::format(".SS \"{}\"\n", escaped(command.name));
  page += escaped(command.summary) + ".\n";
  page += fmt::format(".PP\n\\fB{}\\fR\n", escaped(command.usage()));
  page += paragraphs(command.details);
  if (command.exit_status.is_known()) page += paragraphs(command.exit_status.text());
  page += items(command);
  page += examples(command.examples);
  for (const CommandText& sub : command.commands) append_command(page, sub);
}

}  // namespace

std::string man_page(const CommandText& program, std::string_view version) {
  std::string page = fmt::format(".TH TALLY 1 \"\" \"tally {}\" \"User Commands\"\n", escaped(version));
  page += ".SH NAME\ntally \\- sets and counts of keys in little memory, with a known error rate\n";
  page += ".SH SYNOPSIS\n\\fBtally\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n";
  page += ".SH DESCRIPTION\n" + escaped(program.summary) + "\n" + paragraphs(program.details);
  page += ".SH OPTIONS\n";
  for (const OptionText& option : program.options) page += item(option);
  page += ".SH COMMANDS\n";
  for (const CommandText& command : program.commands) append_command(page, command);
  page +=
      R"(.SH ENVIRONMENT
.TP
\fBTALLY_INSTRUCTION_SET\fR
For tests and for finding bugs: the vector instructions to use, by name, or 'baseline' for those that every
processor has. Results are the same. Default: the best set of this processor. \fBtally \-\-version\fR prints
the names.
.TP
\fBNO_COLOR\fR
If it is set and not empty, nothing is bold or coloured. Neither is anything that is not printed on a terminal.
.TP
\fBTALLY_REDIS\fR
The address of the Redis server of \fBtally node\fR, if neither the command line nor the file of \fB\-\-config\fR has
\fB\-\-redis\fR.
.TP
\fBTALLY_PUBLISH_REDIS\fR
The same for \fB\-\-publish\-redis\fR.
.TP
\fBRUNTIME_DIRECTORY\fR, \fBXDG_RUNTIME_DIR\fR
Where the socket of \fBtally node\fR is, if \fB\-\-api\-socket\fR is not given.
.TP
\fBCOLUMNS\fR
The width of a plot in characters, if standard output is not a terminal.
.PP
Only \fBtally node\fR reads a file of options (\fB\-\-config\fR). No other variable changes a default.
)";
  page += exit_status({.success = "Something was found, reported or done",
                       .none = "Nothing was",
                       .error = "An error; standard error has the message"});
  std::vector<std::string> pages;
  for (const CommandText& command : program.commands) pages.push_back(page_name(command));
  return page + see_also(pages);
}

std::string man_page_of(const CommandText& program, const CommandText& command, std::string_view version) {
  const std::string name = page_name(command);
  std::string page = fmt::format(".TH {} 1 \"\" \"tally {}\" \"User Commands\"\n", in_capitals(escaped(name)),
                                 escaped(version));
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(command.summary));
  page += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR\n", escaped(command.usage()));
  page += ".SH DESCRIPTION\n" + escaped(command.summary) + ".\n" + paragraphs(command.details);
  page += ".SH OPTIONS\n" + items(command);
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const CommandText& sub : command.commands) append_command(page, sub);
  if (command.exit_status.is_known()) page += exit_status(command.exit_status);
  if (!command.examples.empty()) page += fmt::format(".SH EXAMPLES\n.nf\n{}.fi\n", escaped(command.examples));
  std::vector<std::string> pages{program.name};
  for (const CommandText& other : program.commands) {
    if (other.group == command.group && other.name != command.name) pages.push_back(page_name(other));
  }
  return page + see_also(pages);
}

}  // namespace tally::cli

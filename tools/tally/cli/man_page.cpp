#include <fmt/format.h>

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

std::string examples(const std::string& lines) {
  return lines.empty() ? "" : fmt::format(".PP\nExamples:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", escaped(lines));
}

void append_command(std::string& page, const CommandText& command) {
  page += fmt::format(".SS \"{}\"\n", escaped(command.name));
  page += escaped(command.summary) + ".\n";
  page += fmt::format(".PP\n\\fB{}\\fR\n", escaped(command.usage()));
  page += paragraphs(command.details);
  for (const OptionText& positional : command.positionals) page += item(positional);
  for (const OptionText& option : command.options) {
    if (option.names.back() != "--help") page += item(option);
  }
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
)";
  page += ".SH \"EXIT STATUS\"\n";
  for (const auto& [status, meaning] :
       {std::pair{0, "Something was found, reported or done."}, std::pair{1, "Nothing was."},
        std::pair{2, "An error; standard error has the message."}}) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", status, meaning);
  }
  return page;
}

}  // namespace tally::cli

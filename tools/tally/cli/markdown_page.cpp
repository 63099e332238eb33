#include <fmt/format.h>

#include "cli/documents.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {

namespace {

constexpr std::string_view conventions = R"(
<!-- Made by `tally --generate markdown > docs/cli.md`; a test compares. -->

## Conventions

- **Keys** are bytes, one a line, from the files named or standard input (`-`). Nothing is stripped: a carriage
  return belongs to the key, an empty line is the empty key, the last line needs no newline. `-z` takes NULs in place
  of newlines, `-f` and `-d` take fields as `cut` does. gzip, zstd, xz, bzip2 and lz4 input is
  decompressed, as its first bytes tell, in bounded memory (xz that takes more than 256 MiB, or zstd more than 128, is
  refused). Other compressed formats are refused; `--no-decompress` reads any bytes as they are.
- **Standard output** holds results and nothing else. Remarks, warnings, errors and the progress bar (on a terminal
  only) go to standard error; `--quiet` silences all but warnings and errors.
- **Exit status**, as grep's: 0 if something was found or done, 1 if nothing was, 2 after an error. Whoever closes the pipe
  that a command writes to ends it quietly.
- **Numbers** take units: `10M`, `1e6`, `3Ki` for counts; `64MiB`, `1.5GB` for sizes; `1%`, `0.01`, `1e-3` for rates.
  K M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024.
- **Seeds.** What writes a filter file takes one seed on every machine, unless told, so that filters merge. That seed is
  public: against opponents who choose keys, take `--key-file`, or at least `--seed random`. A stream (`over`, `uniq`,
  `top`, and `kmers` without `--output`) draws its seed at random and says it in its summary; `--seed` with that number
  repeats the run, to the byte. `--keyed` takes the keyed hash under a secret drawn at the start, which nobody learns.
- **Files** are written whole or not at all, and not overwritten without `--force`. A file that is read is never
  the output too, by whatever name: refused, as `cat` does. Whether a file can be written is tried before any input is
  read. SIGINT, SIGTERM and SIGHUP end the input, unless they were ignored when the command started
  (`nohup`): commands that print results end with their summary, commands that write a file leave it alone and end with
  status 2.
- **Two commands at once.** A command that writes a file holds it until it ends. One that changes a filter file, or has it as
  `--output`, waits for another such command and then goes on from what that one wrote. A second stream with the same
  `--state` is refused, so that runs started at intervals do not pile up; `--wait` makes it wait.
- **Damaged files.** Before anything is answered from a filter file all of it is checked, by its checksum. `--no-verify` leaves
  that out. Commands that change a filter or pass it on (add, remove, halve, merge, patch, diff, watch, node) do not have
  it: damage would get a fresh checksum there. What the check costs is in [format.md](format.md).
- **Instruction sets.** The loops that all keys go through are compiled for several sets of vector instructions, and the
  best that the processor has is taken. `TALLY_INSTRUCTION_SET=SSE4` in the environment takes that one, `baseline` what
  every processor has. Results are the same; it is for tests, and to find out whether a fault lies there.
  `tally --version` says which set is in use, and which there are.
)";

// A cell of a table: no bar may end it early.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

void append_table(std::string& page, const CommandText& command) {
  page += "\n| option | meaning |\n| --- | --- |\n";
  const auto row = [&](const OptionText& option, const std::string& shown) {
    std::string description = option.description;
    if (option.choices.size() > 4)
      description += fmt::format(". One of: {}", fmt::join(option.choices, ", "));
    page += fmt::format("| `{}` | {} |\n", cell(shown), cell(description));
  };
  for (const OptionText& positional : command.positionals) row(positional, positional.names.front());
  for (const OptionText& option : command.options) row(option, option.shown());
}

void append_command(std::string& page, const CommandText& command, std::string_view heading) {
  page += fmt::format("\n{} {}\n\n{}.\n\n```\n{}\n```\n", heading, command.name, command.summary,
                      command.usage());
  if (!command.details.empty()) page += "\n" + wrapped(command.details, 0, 118) + "\n";
  append_table(page, command);
  if (!command.examples.empty()) {
    page += "\n```sh\n" + command.examples + (command.examples.back() == '\n' ? "" : "\n") + "```\n";
  }
  for (const CommandText& sub : command.commands) append_command(page, sub, fmt::format("{}#", heading));
}

}  // namespace

std::string markdown_page(const CommandText& program) {
  std::string page = "# The command\n";
  page += conventions;
  page += "\n## Commands\n\n| command | does |\n| --- | --- |\n";
  for (const CommandText& command : program.commands) {
    page +=
        fmt::format("| [`{}`](#{}) | {} |\n", command.name, "tally-" + command.word(), cell(command.summary));
  }
  for (const CommandText& command : program.commands) append_command(page, command, "##");
  return page;
}

}  // namespace tally::cli

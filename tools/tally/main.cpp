#include <fmt/core.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/documents.hpp"
#include "cli/flag_words.hpp"
#include "cli/instruction_set.hpp"
#include "cli/signals.hpp"
#include "json_catalogue/json_version.hpp"
#include "tally/serialization/file_kind.hpp"
#include "text/output.hpp"

namespace tally::cli {

namespace {

struct Declared {
  CommandLine command_line;
  Run run;
};

// If a command is called by name, no other command is declared: the options of all of them take more memory
// than some commands do.
std::vector<Declared> declare_commands(CommandLine program, std::string_view called) {
  const bool is_called =
      std::ranges::any_of(commands(), [&](const Command& command) { return command.name == called; });
  std::vector<Declared> declared;
  for (const Command& command : commands()) {
    if (is_called && command.name != called) continue;
    CommandLine own = program.add_command(command.name, command.summary, command.group, command.examples);
    Run run = command.declare(own);
    declared.push_back({own, std::move(run)});
  }
  return declared;
}

/// The commands that read a file of this kind.
std::string_view who_reads(FileKind kind) {
  switch (kind) {
    case FileKind::top_keys:
    case FileKind::space_saving:
      return "'tally top --from' prints its keys, 'tally merge' merges such files, 'tally info' describes it";
    case FileKind::count_min_window:
      return "'tally merge' merges such files, 'tally info' describes it";
    default:
      return "'tally query' and 'tally count' query it, 'tally merge' merges such files, 'tally info' "
             "describes it";
  }
}

ExitCode fail(std::string_view message) {
  report_error(message);
  return ExitCode::error;
}

// The words after the program's name; "help over" becomes "over --help".
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

// Runs the command; words the library's errors for the user of the command.
ExitCode run_translated(const Declared& command) {
  try {
    return command.run();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(in_words_of(command.command_line.called(), error.what()));
  }
}

ExitCode run(int argc, char** argv) {
  take_instruction_set_from_environment();
  Program program("tally");
  WantedDocument document;
  describe_program(program, document);
  const std::vector<std::string> words = words_of(argc, argv);
  const std::vector<Declared> declared =
      declare_commands(program.command_line(), words.empty() ? "" : words.front());
  switch (program.parse(words)) {
    case Program::Outcome::parsed:
      break;
    case Program::Outcome::help:
      if (names_no_command(program)) return fail(parse_error_text(program));
      print(help_text(program));
      return ExitCode::success;
    case Program::Outcome::version:
      print(fmt::format("{}\n{}\nJSON version {}\n", program.error().message, instruction_set_text(),
                        json_version));
      return ExitCode::success;
    case Program::Outcome::refused:
      return fail(parse_error_text(program));
  }
  if (!document.kind.empty()) {
    print(generate_document(program.command_line(), document));
    return ExitCode::success;
  }
  for (const Declared& command : declared) {
    if (!command.command_line.was_called()) continue;
    set_command_name("tally " + command.command_line.name());
    return run_translated(command);
  }
  return fail("no command given; see 'tally --help'");
}

/// Whether the user limits address space: then none may be taken in advance.
bool limits_address_space() noexcept {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return true;
  }
  return false;
}

/// What grows step by step, such as the set of `uniq`, asks for ever larger blocks. By default the C library would give each
/// back to the kernel, from 128 KiB on, and the kernel would hand out the next one in pages of 4 KiB. Here blocks of all threads
/// are used again, and the first ones are in huge pages where the kernel has some.
void keep_blocks() noexcept {
  constexpr int kept_below_bytes =
      4 << 20;                           // as detail::AlignedWords, which asks for huge pages from there on
  constexpr int huge_bytes = 256 << 20;  // of address space; what is used of it becomes memory
  ::mallopt(M_MMAP_THRESHOLD, kept_below_bytes);
  ::mallopt(M_TRIM_THRESHOLD, 2 * huge_bytes);
  ::mallopt(M_ARENA_MAX, 1);
  if (limits_address_space()) return;
  ::mallopt(M_TOP_PAD, huge_bytes);
  void* const begin = ::sbrk(0);
  void* volatile block = std::malloc(kept_below_bytes / 2);  // volatile, so that it is not left out
  std::free(block);
  ::mallopt(M_TOP_PAD, 128 << 10);  // the default
  const std::ptrdiff_t num_bytes = static_cast<char*>(::sbrk(0)) - static_cast<char*>(begin);
  if (num_bytes > 0) ::madvise(begin, static_cast<std::size_t>(num_bytes), MADV_HUGEPAGE);
}

}  // namespace
}  // namespace tally::cli

int main(int argc, char** argv) {
  using namespace tally::cli;
  keep_blocks();
  std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe then returns EPIPE
  install_stop_handler();
  const auto translated = [&] {
    try {
      return run(argc, argv);
    } catch (const ClosedPipe&) {
      return ExitCode::success;
    } catch (const std::bad_alloc&) {
      return fail("not enough memory; use less --memory or fewer keys");
    } catch (const tally::FileKindError& error) {
      return fail(fmt::format("{}; {}", error.what(), who_reads(error.kind())));
    } catch (const std::exception& error) {  // invalid_argument, FormatError, system_error, ...
      return fail(error.what());
    }
  };
  return static_cast<int>(translated());
}

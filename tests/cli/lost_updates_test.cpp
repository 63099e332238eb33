// Two commands that change one file at once leave what they leave one after the other.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "command_pages.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Arguments = std::vector<std::string>;

std::string numbers(int first, int last) {
  std::string lines;
  for (int i = first; i <= last; ++i) lines += std::to_string(i) + "\n";
  return lines;
}

/// A command that replaces the file FILE by what it made of it and of INPUT, which it reads after it has read FILE;
/// `input` is what INPUT holds. Without INPUT there is nothing to stop it in the middle by.
struct Update {
  std::string name;
  Arguments arguments;
  std::string input;

  bool can_be_held() const { return !input.empty(); }
  Arguments filled(const std::string& file, const std::string& input_path) const {
    Arguments line{TALLY_COMMAND};
    for (const std::string& argument : arguments) {
      line.push_back(argument == "FILE" ? file : argument == "INPUT" ? input_path : argument);
    }
    return line;
  }
};

/// Those that replace a filter file, and no others: a new command has to be put into one of the two lists.
const std::set<std::string> changing{"add", "remove", "halve", "merge", "patch", "build", "kmers"};
const std::set<std::string> not_changing{
    "bench",  "count", "diff",        "info",        "node",       "over",        "plan",
    "query",  "squid", "squid build", "squid fetch", "squid info", "squid query", "squid serve",
    "theory", "top",   "uniq",        "verify",      "watch"};

class LostUpdates : public ::testing::Test {
 protected:
  std::string build(const std::string& name, const Arguments& flags, const std::string& keys) {
    std::string path = directory / name;
    Arguments line{"build", "-q", "--force", "-o", path};
    line.insert(line.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_tally(line, keys).exit_code, 0);
    return path;
  }

  /// What all commands make of one file after the other.
  std::string in_turn(const std::string& before, const std::vector<const Update*>& updates) {
    const std::string path = directory.write("turn", before);
    for (const Update* update : updates) {
      const CommandResult result =
          run_program(update->filled(path, directory.write("turn-input", update->input)));
      EXPECT_LE(result.exit_code, 1) << update->name << result.error;
    }
    return read_file(path);
  }

  /// The first one stands in the middle of its input while the second one runs.
  std::string at_once(const std::string& before, const Update& first, const Update& second) {
    const std::string path = directory.write("both", before);
    const std::string pipe = directory / "pipe";
    std::filesystem::remove(pipe);
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    RunningCommand held(first.filled(path, pipe));
    const int into_pipe = open_for_a_reader(pipe);
    RunningCommand other(second.filled(path, directory.write("input", second.input)));
    (void)other.read_error_line();  // that it waits, or what it did
    EXPECT_EQ(write(into_pipe, first.input.data(), first.input.size()),
              static_cast<ssize_t>(first.input.size()));
    close(into_pipe);
    for (RunningCommand* command : {&held, &other}) {
      const CommandResult result = command->wait();
      EXPECT_LE(result.exit_code, 1) << result.error;
    }
    return read_file(path);
  }

  static void wait_until_there(const std::string& path) {
    for (int trial = 0; trial < 2'000 && !std::filesystem::exists(path); ++trial) usleep(1000);
    EXPECT_TRUE(std::filesystem::exists(path));
  }

  /// Once somebody reads the pipe.
  static int open_for_a_reader(const std::string& pipe) {
    int file = -1;
    for (int trial = 0; trial < 20'000 && (file = open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0;
         ++trial) {
      usleep(1000);
    }
    return file;
  }

  void expect_none_lost(const std::string& before, const std::vector<Update>& updates) {
    for (const Update& first : updates) {
      if (!first.can_be_held()) continue;
      for (const Update& second : updates) {
        const bool is_in_turn = at_once(before, first, second) == in_turn(before, {&first, &second}) ||
                                read_file(directory / "both") == in_turn(before, {&second, &first});
        EXPECT_TRUE(is_in_turn) << first.name << " and " << second.name;
      }
    }
  }

  TemporaryDirectory directory;
};

TEST_F(LostUpdates, NoneOfTwoChangesIsLostWhicheverTheyAre) {
  std::set<std::string> raced;
  const auto race = [&](const Arguments& shape, std::vector<Update> updates) {
    const std::string before = read_file(build("before", shape, numbers(1, 50)));
    const std::string other = read_file(build("other", shape, numbers(200, 250)));
    const std::string full = directory / "message";
    const CommandResult diff =
        run_tally({"diff", "-q", "--force", build("other", shape, numbers(300, 350)), "-o", full});
    Arguments build_line{"build", "--force", "-o", "FILE", "INPUT"};
    build_line.insert(build_line.end(), shape.begin(), shape.end());
    updates.push_back({"add", {"add", "FILE", "INPUT"}, numbers(100, 150)});
    updates.push_back({"merge", {"merge", "--force", "-o", "FILE", "FILE", "INPUT"}, other});
    updates.push_back({"build", build_line, numbers(400, 450)});
    if (shape[1] == "bloom") updates.push_back({"patch", {"patch", "FILE", "INPUT"}, read_file(full)});
    for (const Update& update : updates) raced.insert(update.name);
    expect_none_lost(before, updates);
  };
  race({"--kind", "counting-bloom", "-n", "500"}, {{"remove", {"remove", "FILE", "INPUT"}, numbers(1, 20)}});
  race({"--kind", "count-min", "--width", "1000", "--depth", "2"}, {{"halve", {"halve", "FILE"}, ""}});
  race({"--kind", "bloom", "-n", "500"}, {});
  raced.insert("kmers");  // as build: it replaces the file and does not read it
  EXPECT_EQ(raced, changing);
}

TEST_F(LostUpdates, EveryCommandIsKnownToChangeFilesOrNot) {
  for (const auto& [name, page] : command_pages()) {
    EXPECT_NE(changing.contains(name), not_changing.contains(name)) << name << " is new: race it here";
  }
}

TEST_F(LostUpdates, OfManyAtOnceNoneIsLost) {
  const std::string path = build("f", {"-n", "1M", "-p", "1e-9"}, "0\n");
  constexpr int num_commands = 12;
  std::vector<Arguments> lines;
  for (int i = 0; i < num_commands; ++i) {
    const std::string name = std::to_string(i);
    const std::string keys = numbers(1 + 100 * i, 100 + 100 * i);
    if (i % 2 == 0) {
      lines.push_back({"add", "-q", path, directory.write("keys" + name, keys)});
    } else {
      lines.push_back(
          {"merge", "-q", "--force", "-o", path, path, build("g" + name, {"--like", path}, keys)});
    }
    lines.back().insert(lines.back().begin(), TALLY_COMMAND);
  }
  std::vector<std::unique_ptr<RunningCommand>> commands;
  for (const Arguments& line : lines) commands.push_back(std::make_unique<RunningCommand>(line));
  for (const auto& command : commands) {
    const CommandResult result = command->wait();
    EXPECT_EQ(result.exit_code, 0) << result.error;
  }
  EXPECT_EQ(run_tally({"query", "-c", path}, numbers(1, 100 * num_commands)).output, "1200\n");
}

TEST_F(LostUpdates, TheSameFileUnderAnotherNameIsTheSame) {
  const std::string before = read_file(build("before", {"-n", "500"}, numbers(1, 50)));
  const std::string path = directory.write("both", before);
  std::filesystem::create_symlink("both", directory / "link");
  const Update add{"add", {"add", "FILE", "INPUT"}, numbers(100, 150)};
  const Update by_link{"add", {"add", directory / "link", "INPUT"}, numbers(200, 250)};
  const Update by_name{"add", {"add", "FILE", "INPUT"}, numbers(200, 250)};
  EXPECT_TRUE(at_once(before, add, by_link) == in_turn(before, {&add, &by_name}));
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
}

/// A command with --state whose input comes through a pipe.
class StateRuns : public LostUpdates {
 protected:
  std::string state() { return directory / "state"; }
  Arguments line(const Arguments& flags) {
    Arguments line{TALLY_COMMAND, "", "--state", state(), "-q"};
    line[1] = flags.front();
    line.insert(line.end(), flags.begin() + 1, flags.end());
    return line;
  }
  void wait_until_held() { wait_until_there(directory / ".state.tally-lock"); }

  const std::vector<Arguments> streams{{"over", "2"},
                                       {"over", "2", "--window", "1h", "--memory", "64KiB"},
                                       {"over", "3", "--sum", "1", "--memory", "64KiB"},
                                       {"top", "5", "--memory", "64KiB"}};
};

TEST_F(StateRuns, ASecondOneIsRefusedAndChangesNothing) {
  for (const Arguments& flags : streams) {
    std::filesystem::remove(state());
    for (const bool is_there : {false, true}) {
      RunningCommand first(line(flags));
      wait_until_held();
      const std::string before = is_there ? read_file(state()) : "";
      const CommandResult second = run_program(line(flags), "1\n");
      EXPECT_EQ(second.exit_code, 2) << flags[0];
      EXPECT_EQ(second.output, "");
      EXPECT_THAT(second.error, AllOf(HasSubstr("'" + state() + "' is locked by another tally process"),
                                      HasSubstr("--wait-for-state")));
      EXPECT_EQ(std::filesystem::exists(state()), is_there);
      EXPECT_EQ(is_there ? read_file(state()) : "", before);
      first.write("1\n");
      first.close_input();
      EXPECT_LE(first.wait().exit_code, 1);
      EXPECT_EQ(directory.num_files(), 1U);
    }
  }
}

// Also where the first one draws the seed: who waits takes it from the state.
TEST_F(StateRuns, ASecondOneThatMayWaitGoesOnFromTheFirst) {
  std::vector<Arguments> all = streams;
  for (const Arguments& flags : streams) {
    all.push_back(flags);
    all.back().emplace_back(one_seed);
  }
  for (const Arguments& flags : all) {
    std::filesystem::remove(state());
    const std::string expected_first = run_program(line(flags), "1\n2\n2\n").output;
    const std::string expected_second = run_program(line(flags), "1\n3\n").output;
    const std::string expected = read_file(state());
    std::filesystem::remove(state());

    RunningCommand first(line(flags));
    wait_until_held();
    Arguments waiting = line(flags);
    waiting.erase(std::find(waiting.begin(), waiting.end(), "-q"));
    waiting.push_back("--wait-for-state");
    RunningCommand second(waiting);
    EXPECT_THAT(second.read_error_line(),
                HasSubstr("'" + state() + "' is being changed by another process; waiting"));
    second.write("1\n3\n");
    second.close_input();
    first.write("1\n2\n2\n");
    first.close_input();
    EXPECT_EQ(first.wait().output, expected_first);
    EXPECT_EQ(second.wait().output, expected_second) << flags[0];
    const bool has_times_of_reading = flags.size() > 2 && flags[2] == "--window";
    const bool is_comparable = flags.back() == one_seed && !has_times_of_reading;
    EXPECT_TRUE(!is_comparable || read_file(state()) == expected) << flags[0];
  }
}

TEST_F(StateRuns, WhoWaitsCanBeInterrupted) {
  RunningCommand first(line({"over", "2"}));
  wait_until_held();
  Arguments waiting = line({"over", "2", "--wait-for-state"});
  waiting.erase(std::find(waiting.begin(), waiting.end(), "-q"));
  RunningCommand second(waiting);
  EXPECT_THAT(second.read_error_line(), HasSubstr("waiting"));
  second.send(SIGTERM);
  const CommandResult result = second.wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("interrupted while waiting for '" + state() + "'"));
}

TEST_F(StateRuns, WaitingIsForStatesAlone) {
  const CommandResult result = run_tally({"over", "2", "--wait-for-state"}, "1\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("--state"));
}

TEST_F(LostUpdates, TheLockOfAProcessThatWasKilledHoldsNobodyUp) {
  const std::string path = build("f", {"-n", "500"}, numbers(1, 50));
  RunningCommand add({TALLY_COMMAND, "add", path});
  const std::string lock = directory / ".f.tally-lock";
  wait_until_there(lock);
  add.send(SIGKILL);
  add.wait();
  EXPECT_TRUE(std::filesystem::exists(lock));
  EXPECT_EQ(run_tally({"add", path}, "7\n").exit_code, 0);
  EXPECT_EQ(directory.num_files(), 1U);
}

TEST_F(LostUpdates, ANameOfTheGreatestLengthCanBeHeld) {
  const std::string path = build(std::string(255, 'n'), {"-n", "500"}, numbers(1, 50));
  EXPECT_EQ(run_tally({"add", path}, "7\n").exit_code, 0);
  EXPECT_EQ(directory.num_files(), 1U);
}

// What would be another road to a file. Not a proof, but whoever adds one has to come by here.
// And one that tries, with a file that has no name or loses it at once, and a log, to which lines are only added.
TEST(GuardedRoad, OnlyOneSourceOfTheCommandWritesFiles) {
  const std::regex writes(
      "Overwrite::|\\bsave_bytes\\(|tally::save\\(|^\\s*(return "
      ")?save\\(|\\brename(at2?)?\\(|O_CREAT|O_WRONLY|O_RDWR|"
      "ofstream|\\bfopen\\(|mkstemp|O_TRUNC|resize_file|copy_file");
  const std::filesystem::path sources = std::filesystem::path(TALLY_TEST_DATA_DIR) / "../../tools/tally";
  std::size_t num_sources = 0;
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sources)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    const std::string name = entry.path().filename().string();
    std::ifstream source(entry.path());
    ++num_sources;
    for (std::string line; std::getline(source, line);) {
      const std::string code = line.substr(0, line.find("//"));
      const bool may_write =
          name.starts_with("guarded_file.") || name == "output_check.cpp" || name == "access_log.cpp";
      if (std::regex_search(code, writes) && !may_write) found.push_back(name + ": " + line);
    }
  }
  EXPECT_GT(num_sources, 100U);
  EXPECT_THAT(found, IsEmpty());
}

}  // namespace
}  // namespace tally::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "key_streams.hpp"
#include "rotated_log.hpp"
#include "running_command.hpp"

// Files that are followed while they grow, are renamed and made anew, or are cut off.

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> following(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TALLY_COMMAND);
  arguments.emplace_back("--follow");
  return arguments;
}

/// `tally uniq --follow` with its output in a file, so that nobody has to read it meanwhile.
class FollowedIntoFile {
 public:
  explicit FollowedIntoFile(const std::vector<std::string>& files)
      : command_({"sh", "-c", script_for(files, out())}) {}

  RunningCommand& command() { return command_; }
  bool has_printed(const std::string& key) const {
    const std::string text = "\n" + read_file(out());
    return text.find("\n" + key + "\n") != std::string::npos;
  }
  /// All keys up to one that is written last; each was there once.
  std::vector<std::string> keys_until(const std::string& last, int milliseconds = 60'000) {
    EXPECT_TRUE(comes_true([&] { return has_printed(last); }, std::chrono::milliseconds(milliseconds)))
        << last;
    command_.send(SIGTERM);
    const CommandResult result = command_.wait();
    std::vector<std::string> keys = split_keys(read_file(out()));
    const std::string number = std::to_string(keys.size());
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.error, HasSubstr("interrupted after " + number + " lines, " + number + " printed"));
    return keys;
  }

 private:
  std::string out() const { return directory_ / "out"; }
  static std::string script_for(const std::vector<std::string>& files, const std::string& out) {
    std::string script = "exec '" TALLY_COMMAND "' uniq --follow";
    for (const std::string& file : files) script += " '" + file + "'";
    return script + " > '" + out + "'";
  }

  TemporaryDirectory directory_;
  RunningCommand command_;
};

/// The lines "begin" to "end - 1" as a text.
std::string numbered(std::uint64_t begin, std::uint64_t end) {
  std::string text;
  for (std::uint64_t i = begin; i < end; ++i) text.append(std::to_string(i)).append("\n");
  return text;
}

/// All of them, in any order: files that were renamed and are still written to come beside the new ones.
void expect_numbers(std::vector<std::string> keys, std::uint64_t end) {
  std::vector<std::string> expected = split_keys(numbered(0, end));
  std::ranges::sort(keys);
  std::ranges::sort(expected);
  EXPECT_TRUE(keys == expected) << keys.size() << " keys of " << end;
}

TEST(Follow, PrintsWhatIsThereAndThenWhatIsWritten) {
  const TemporaryDirectory directory;
  RotatedLog log(directory / "log");
  log.write("a\nb\na\n");
  RunningCommand command(following({"uniq", log.path()}));
  EXPECT_EQ(command.read_line(), "a\n");
  EXPECT_EQ(command.read_line(), "b\n");
  log.write("c\nunfinished");
  EXPECT_EQ(command.read_line(), "c\n");
  log.write(" line\n");
  EXPECT_EQ(command.read_line(), "unfinished line\n");
  log.write("no line yet");
  command.send(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, HasSubstr("interrupted after 5 lines, 4 printed"));
}

TEST(Follow, EveryStreamReadsAFileThatGrows) {
  const TemporaryDirectory directory;
  const std::string keys = directory.write("keys", "a\n");
  const std::string filter = directory / "keys.tally";
  ASSERT_EQ(run_tally({"build", "-q", "--kind", "counting-bloom", "-n", "10", "-o", filter, keys}).exit_code,
            0);
  const std::vector<std::pair<std::vector<std::string>, std::string>> streams{
      {{"uniq"}, "a\n"},
      {{"over", "2"}, "a\n"},
      {{"over", "2", "--window", "1h"}, "a\n"},
      {{"query", filter}, "a\n"},
      {{"count", filter}, "1\ta\n"}};
  for (const auto& [arguments, printed] : streams) {
    RotatedLog log(directory / ("log of " + arguments[0] + std::to_string(arguments.size())));
    std::vector<std::string> command_words = arguments;
    command_words.push_back(log.path());
    RunningCommand command(following(command_words));
    log.write("a\na\n");
    EXPECT_EQ(command.read_line(), printed) << arguments[0];
  }
  RotatedLog log(directory / "log of top");
  RunningCommand top(
      following({"top", "1", "--interval", "1s", "--time", "1", "--fields", "2", "-d", " ", log.path()}));
  log.write("1 a\n1 a\n2 b\n");
  EXPECT_EQ(top.read_line(), "2\ta\n");
}

TEST(Follow, OfALogThatIsRotatedUnderLoadNoLineIsLostAndNoneComesTwice) {
  const TemporaryDirectory directory;
  RotatedLog log(directory / "log");
  log.write("the start\n");
  FollowedIntoFile followed({log.path()});
  ASSERT_TRUE(comes_true([&] { return followed.has_printed("the start"); }));
  constexpr std::uint64_t lines_per_file = 5'000;
  constexpr std::uint64_t lines_after_rename = 500;
  constexpr int num_files = 40;
  std::uint64_t next = 0;
  for (int file = 0; file < num_files; ++file) {
    log.write(numbered(next, next + lines_per_file));
    log.rename_all(num_files);
    log.write(numbered(next + lines_per_file, next + lines_per_file + lines_after_rename));
    next += lines_per_file + lines_after_rename;
    log.create();
    log.write(numbered(next, next + lines_after_rename));  // to the old file, beside the new one
    next += lines_after_rename;
    log.reopen();
  }
  log.write("the end\n");
  std::vector<std::string> keys = followed.keys_until("the end");
  std::erase(keys, "the start");
  std::erase(keys, "the end");
  expect_numbers(std::move(keys), next);
}

TEST(Follow, FilesThatHadTheNameWhileNobodyLookedAreRead) {
  const TemporaryDirectory directory;
  RotatedLog log(directory / "log");
  log.write("0\n");
  FollowedIntoFile followed({log.path()});
  ASSERT_TRUE(comes_true([&] { return followed.has_printed("0"); }));
  followed.command().send(SIGSTOP);
  for (std::uint64_t i = 1; i < 8; ++i) {
    log.rename_all(9);
    log.reopen();
    log.write(numbered(i, i + 1));
  }
  log.write("the end\n");
  followed.command().send(SIGCONT);
  std::vector<std::string> keys = followed.keys_until("the end");
  std::erase(keys, "the end");
  expect_numbers(std::move(keys), 8);
}

TEST(Follow, AFileThatIsCutOffIsReadFromItsBeginning) {
  const TemporaryDirectory directory;
  RotatedLog log(directory / "log");
  RunningCommand command(following({"uniq", log.path()}));
  log.write("a long line\nhalf of");
  EXPECT_EQ(command.read_line(), "a long line\n");
  log.cut_off();
  EXPECT_THAT(command.read_error_line(),
              AllOf(HasSubstr("was cut off at 0 of 19 bytes"), HasSubstr("without the 7 bytes")));
  log.write("b\n");
  EXPECT_EQ(command.read_line(), "b\n");
}

TEST(Follow, LinesOfSeveralFilesAreNotMixed) {
  const TemporaryDirectory directory;
  RotatedLog one(directory / "one");
  RotatedLog two(directory / "two");
  RunningCommand command(following({"uniq", one.path(), two.path(), one.path()}));
  one.write("one ");
  two.write("two ");
  one.write("whole\n");
  EXPECT_EQ(command.read_line(), "one whole\n");
  two.write("whole\n");
  EXPECT_EQ(command.read_line(), "two whole\n");
}

TEST(Follow, EachFileHasItsOwnHeaderAndLineNumbers) {
  const TemporaryDirectory directory;
  RotatedLog one(directory / "one.csv");
  RotatedLog two(directory / "two.csv");
  one.write("host,path\n");
  two.write("path,bytes,host\n");
  RunningCommand command(following({"uniq", "--format", "csv", "-f", "host", one.path(), two.path()}));
  for (const std::string i : {"1", "2", "3"}) {
    one.write("one" + i + ",/a\n");
    EXPECT_EQ(command.read_line(), "one" + i + "\n");
    two.write("/b,9,two" + i + "\n");
    EXPECT_EQ(command.read_line(), "two" + i + "\n");
  }
  one.rename_all(1);
  one.reopen();
  one.write("path,host\n/a,after\n");
  EXPECT_EQ(command.read_line(), "after\n");
  two.write("/b,9,two4\n");
  EXPECT_EQ(command.read_line(), "two4\n");
  two.write("no host here\n");
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("two.csv, line 6: "));
}

TEST(Follow, NewLinesBeginAtTheEndOfWhatIsThere) {
  const TemporaryDirectory directory;
  RotatedLog log(directory / "log");
  log.write("old\nold, and not yet");
  // The second file is looked for when the first one is open, and at its end.
  RunningCommand command(following({"uniq", "--new-lines", log.path(), directory / "later"}));
  EXPECT_THAT(command.read_error_line(), HasSubstr("waiting for it"));
  log.write(" at its end\nnew\n");
  EXPECT_EQ(command.read_line(), "new\n");
  log.rename_all(1);
  log.reopen();
  log.write("newer\n");
  EXPECT_EQ(command.read_line(), "newer\n");
}

TEST(Follow, WaitsForAFileThatIsNotThereYet) {
  const TemporaryDirectory directory;
  RotatedLog log(directory / "log");
  RunningCommand command(following({"uniq", directory / "later", log.path()}));
  EXPECT_THAT(command.read_error_line(),
              AllOf(HasSubstr("there is no"), HasSubstr("later'; waiting for it")));
  RotatedLog later(directory / "later");
  later.write("a\n");
  EXPECT_EQ(command.read_line(), "a\n");
}

TEST(Follow, WhatCannotBeOpenedIsTriedAgain) {
  const TemporaryDirectory directory;
  RotatedLog log(directory / "log");
  RunningCommand command(following({"uniq", log.path()}));
  log.write("a\n");
  EXPECT_EQ(command.read_line(), "a\n");
  log.rename_all(1);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  log.path().copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(command.read_error_line(), HasSubstr("log: No such device or address; trying again"));
  ::close(socket);
  std::filesystem::remove(log.path());
  log.reopen();
  log.write("b\n");
  EXPECT_EQ(command.read_line(), "b\n");
}

TEST(Follow, EndsWhenNobodyReadsItsOutput) {
  const TemporaryDirectory directory;
  const std::string log = directory.write("log", "a\nb\n");
  const CommandResult result = run_shell("timeout 20 \"$TALLY\" uniq --follow '" + log + "' | head -n 1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "a\n");
}

TEST(Follow, RefusesWhatCannotBeFollowed) {
  const TemporaryDirectory directory;
  const std::string log = directory.write("log", "a\n");
  const std::string zipped = directory.write("zipped", "\x1f\x8b\x08");
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto error_of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"over", "2", "--follow"});
    const CommandResult result = run_tally(arguments, "a\n");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "");
    return result.error;
  };
  EXPECT_THAT(error_of({}), HasSubstr("--follow: standard input has no name to follow"));
  EXPECT_THAT(error_of({log, "-"}), HasSubstr("--follow: standard input has no name to follow"));
  EXPECT_THAT(error_of({directory / "none"}), HasSubstr("none: No such file"));
  EXPECT_THAT(error_of({pipe}), HasSubstr("pipe' is not a regular file"));
  EXPECT_THAT(error_of({directory / ""}), HasSubstr("is not a regular file"));
  EXPECT_THAT(error_of({zipped}), AllOf(HasSubstr("zipped' is gzip"), HasSubstr("--no-decompress")));
  EXPECT_THAT(error_of({log, "--state", directory / "state"}), HasSubstr("--new-lines"));
  EXPECT_THAT(run_tally({"uniq", "--new-lines", log}).error, HasSubstr("--follow"));
}

}  // namespace
}  // namespace tally::test

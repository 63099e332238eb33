#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_command.hpp"

// The progress line, on a terminal that script(1) of util-linux makes. A job shows none in its first 0.3 s.

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string clear_line = "\r\x1b[K";

class OnATerminal : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string found = run_program({"sh", "-c", "script -qec true /dev/null && echo yes"}).output;
    if (found.find("yes") == std::string::npos) GTEST_SKIP() << "no script(1) here";
  }
  // What a terminal gets to see of a shell's commands; "$TALLY" is the command. The input stays open:
  // script(1) may end early with it.
  static std::string screen_of(const std::string& commands) {
    return RunningCommand({"script", "-qec", "TALLY='" TALLY_COMMAND "'; " + commands, "/dev/null"})
        .wait()
        .output;
  }
};

const std::string slow_input = "(echo a; sleep 0.5; echo b; sleep 0.3; echo a; sleep 0.2; echo c)";

TEST_F(OnATerminal, ProgressIsDrawnAndClearedBeforeTheSummary) {
  const std::string screen = screen_of(slow_input + " | \"$TALLY\" over 2 > /dev/null");
  EXPECT_THAT(screen, AllOf(HasSubstr(" keys  "), HasSubstr(clear_line + "tally over: 4 lines")));
}

TEST_F(OnATerminal, KeysDoNotStandBehindTheProgressLine) {
  for (const char* command : {"over 2", "uniq", "over 2 --json"}) {
    const std::string screen = screen_of(slow_input + " | \"$TALLY\" " + command);
    // Whatever follows a drawn line first clears it, or draws it again from the line's start.
    for (std::size_t at = screen.find("\x1b[K"); at != std::string::npos;
         at = screen.find("\x1b[K", at + 3)) {
      const bool was_drawn = at > 0 && screen[at - 1] != '\r';
      if (was_drawn) {
        EXPECT_EQ(screen.substr(at + 3, 1), "\r") << command;
      }
    }
    EXPECT_THAT(screen, HasSubstr(" keys  ")) << command;
  }
}

TEST_F(OnATerminal, TheTableOfTopIsDrawnAgainWhenAFollowedFileGrows) {
  const TemporaryDirectory directory;
  const std::string log = directory.write("log", "a\n");
  const std::string screen = screen_of(
      "(sleep 0.5; printf 'b\\nb\\n' >> '" + log +
      "') & timeout --foreground --preserve-status -s INT 1.5 \"$TALLY\" top -q -i 100ms --follow '" + log +
      "'");
  const std::size_t first = screen.find("100.00%  a");
  const std::size_t again = screen.find("66.67%  b");
  ASSERT_NE(first, std::string::npos) << screen;
  ASSERT_NE(again, std::string::npos) << screen;
  EXPECT_LT(first, again);
  EXPECT_THAT(screen.substr(first, again - first), HasSubstr("\x1b[2A\r\x1b[J"));  // over what was drawn
}

TEST_F(OnATerminal, SeveralFilesOfReadsAreNumbered) {
  const TemporaryDirectory directory;
  const std::string first = directory.write("first.fa", ">s\nACGTACGT\n");
  const std::string pipe = directory / "pipe";
  const std::string kmers = "\"$TALLY\" kmers -k 4 -L 1 ";
  const std::string slow_pipe = "mkfifo " + pipe + "; (sleep 0.6; cat " + first + ") > " + pipe + " & ";
  EXPECT_THAT(screen_of(slow_pipe + kmers + first + " " + pipe + " > /dev/null"), HasSubstr("  file 2 of 2"));
  EXPECT_THAT(screen_of("rm -f " + pipe + "; " + slow_pipe + kmers + pipe + " > /dev/null"),
              AllOf(HasSubstr(" keys  "), ::testing::Not(HasSubstr("  file "))));
}

TEST_F(OnATerminal, QuietDrawsNothing) {
  EXPECT_EQ(screen_of(slow_input + " | \"$TALLY\" over 2 --quiet"), "a\r\n");
}

// Output of "plan", which is a table, of help, and of an error.
const std::vector<std::string> styled_commands{"plan -n 1M -p 1%", "help over", "over nothing"};

TEST_F(OnATerminal, HeadingsAreBoldAndErrorsRed) {
  const auto shown = [](const std::string& command) {
    return screen_of("TERM=xterm NO_COLOR= \"$TALLY\" " + command);
  };
  EXPECT_THAT(shown(styled_commands[0]), HasSubstr("\x1b[1mstructure"));
  EXPECT_THAT(shown(styled_commands[1]), HasSubstr("\x1b[1mExamples:\x1b[0m\r\n"));
  EXPECT_THAT(shown(styled_commands[2]), HasSubstr("\x1b[1;31mtally over:\x1b[0m "));
  EXPECT_THAT(screen_of("printf 'a\\n' | TERM=xterm NO_COLOR= \"$TALLY\" top -q"),
              HasSubstr("\x1b[1m       count"));
}

TEST_F(OnATerminal, NothingIsBoldOrColouredWhereThatIsNotWanted) {
  for (const std::string& command : styled_commands) {
    for (const char* const environment : {"TERM=xterm NO_COLOR=1", "TERM=dumb NO_COLOR=", "TERM= NO_COLOR="})
      EXPECT_THAT(screen_of(environment + std::string(" \"$TALLY\" ") + command), Not(HasSubstr("\x1b[")))
          << environment << " " << command;
    const std::string through_pipes =
        screen_of("{ TERM=xterm NO_COLOR= \"$TALLY\" " + command + "; } 2>&1 | cat");
    EXPECT_THAT(through_pipes, AllOf(HasSubstr("tally"), Not(HasSubstr("\x1b[")))) << command;
  }
}

}  // namespace
}  // namespace tally::test

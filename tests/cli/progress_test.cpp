#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "command_runner.hpp"
#include "running_command.hpp"

// The progress line, on a terminal that script(1) of util-linux makes. A job shows none in its first 0.3 s.

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace tally::test

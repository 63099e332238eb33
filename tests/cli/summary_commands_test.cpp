// tally diff, patch and watch: summaries by files and pipes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "command_runner.hpp"
#include "running_command.hpp"

namespace tally {
namespace {

using test::CommandResult;
using test::read_file;
using test::RunningCommand;
using test::TemporaryDirectory;
using ::testing::HasSubstr;

CommandResult tally(std::vector<std::string> arguments, const std::string& input = "") {
  return test::run_tally(std::move(arguments), input);
}

std::string numbers(int first, int end) {
  std::string lines;
  for (int i = first; i < end; ++i) lines += "key " + std::to_string(i) + "\n";
  return lines;
}

void expect_success(const CommandResult& result) { EXPECT_EQ(result.exit_code, 0) << result.error; }

class SummaryCommands : public ::testing::TestWithParam<const char*> {
 protected:
  std::string path(const std::string& name) const { return directory_ / name; }

  void build(const std::string& name, int first, int end) const {
    expect_success(tally({"build", "-q", "--kind", GetParam(), "-n", "5000", "-p", "1%", "-o", path(name)},
                         numbers(first, end)));
  }
  // `old` with 40 keys of 4000 replaced. The cells of a d-left filter depend on its history, so it is changed in place.
  void build_next(const std::string& name, const std::string& old) const {
    if (std::string(GetParam()) == "bloom") return build(name, 40, 4040);
    std::filesystem::copy_file(path(old), path(name));
    expect_success(tally({"remove", "-q", path(name)}, numbers(0, 40)));
    expect_success(tally({"add", "-q", path(name)}, numbers(4000, 4040)));
  }
  std::string answers(const std::string& name) const {
    return tally({"query", path(name)}, numbers(0, 20'000)).output;
  }

  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, SummaryCommands, ::testing::Values("bloom", "counting-bloom", "dleft"),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(SummaryCommands, ACopyThatIsPatchedAnswersLikeTheFilter) {
  build("old", 0, 4000);
  build_next("new", "old");
  expect_success(tally({"diff", path("old"), "-o", path("full")}));
  expect_success(tally({"diff", path("old"), path("new"), "-o", path("delta")}));
  EXPECT_LT(read_file(path("delta")).size(), read_file(path("full")).size() / 8);
  expect_success(tally({"patch", path("copy"), path("full")}));
  EXPECT_TRUE(answers("copy") == answers("old"));
  expect_success(tally({"patch", path("copy"), path("delta")}));
  EXPECT_TRUE(answers("copy") == answers("new"));
  // Once more: nothing to do. And by a pipe, from nothing.
  expect_success(tally({"patch", path("copy"), path("delta")}));
  expect_success(tally({"patch", path("other")}, read_file(path("full")) + read_file(path("delta"))));
  EXPECT_TRUE(read_file(path("other")) == read_file(path("copy")));
  EXPECT_EQ(tally({"diff", path("copy"), path("new"), "-o", path("none")}).exit_code, 1) << "nothing changed";
  expect_success(tally({"info", path("copy")}));
}

TEST_P(SummaryCommands, ADeltaFromAnotherVersionIsNotAppliedAndTheCopyIsWhatItWas) {
  build("old", 0, 4000);
  build("new", 40, 4040);
  build("third", 500, 3000);
  expect_success(tally({"diff", path("third"), "-o", path("full")}));
  expect_success(tally({"diff", path("old"), path("new"), "-o", path("delta")}));
  expect_success(tally({"patch", path("copy"), path("full")}));
  const std::string before = read_file(path("copy"));
  const CommandResult result = tally({"patch", path("copy"), path("delta")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("continues from another version"));
  EXPECT_TRUE(read_file(path("copy")) == before);
  EXPECT_EQ(tally({"patch", path("absent"), path("delta")}).exit_code, 1);
  EXPECT_EQ(read_file(path("absent")), "");
}

TEST_P(SummaryCommands, WatchSendsEveryVersionAndWaitsForAFileThatIsGone) {
  build("file", 0, 4000);
  RunningCommand watch({TALLY_COMMAND, "watch", "--interval", "20ms", "--heartbeat", "50ms", path("file")});
  EXPECT_THAT(watch.read_error_line(), HasSubstr("version 1: full"));
  build_next("next", "file");
  std::filesystem::rename(path("next"), path("file"));
  EXPECT_THAT(watch.read_error_line(), HasSubstr("version 2: delta"));
  std::filesystem::remove(path("file"));
  EXPECT_THAT(watch.read_error_line(), HasSubstr("is gone; waiting for it"));
  build("file", 40, 4040);
  watch.send(SIGTERM);
  const CommandResult ended = watch.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.error;
  const std::string& sent = ended.output;
  expect_success(tally({"patch", path("copy")}, sent));
  EXPECT_TRUE(answers("copy") == answers("file"));
}

TEST(Watch, EndsQuietlyWhenNobodyReadsAnyMore) {
  const TemporaryDirectory directory;
  expect_success(tally({"build", "-q", "-n", "100", "-o", directory / "file"}, numbers(0, 100)));
  const std::string file = directory / "file";
  const std::string code = directory / "code";
  (void)test::run_shell("{ timeout 20 \"$TALLY\" watch -q --interval 1h " + file + "; echo $? >" + code +
                        "; } | head -c 1");
  EXPECT_EQ(read_file(code), "0\n") << "124: it was still there after 20 seconds";
}

TEST(SummaryCommandErrors, AreClear) {
  const TemporaryDirectory directory;
  const auto path = [&](const std::string& name) { return directory / name; };
  expect_success(tally({"build", "-q", "-n", "100", "-o", path("bloom")}, numbers(0, 100)));
  expect_success(
      tally({"build", "-q", "-n", "100", "--kind", "dleft", "-o", path("dleft")}, numbers(0, 100)));
  expect_success(tally({"build", "-q", "-n", "100", "--seed", "5", "-o", path("seed")}, numbers(0, 100)));
  expect_success(
      tally({"build", "-q", "--kind", "count-min", "--width", "100", "--depth", "4", "-o", path("sketch")},
            numbers(0, 100)));
  const auto expect_error = [](const CommandResult& result, const std::string& text) {
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr(text));
  };
  expect_error(tally({"diff", path("sketch")}), "a filter of kind count-min has no summary");
  expect_error(tally({"diff", path("absent")}), "absent");
  expect_error(tally({"watch", path("absent")}), "absent");
  expect_error(tally({"patch", path("dleft")}, "x"), "is a dleft filter with its own counts");
  expect_error(tally({"patch", path("copy")}, "x"), "it ends after 1 bytes of a header");
  expect_error(tally({"patch", path("copy"), path("bloom")}), "not a summary message");
  expect_success(tally({"diff", path("bloom"), "-o", path("full")}));
  expect_error(tally({"diff", path("bloom"), "-o", path("full")}), "--force");
  expect_error(tally({"patch", "--max-memory", "10", path("copy"), path("full")}), "--max-memory");
  std::string damaged = read_file(path("full"));
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  expect_error(tally({"patch", path("copy")}, damaged), "the checksum of the body does not match");
  expect_error(tally({"patch", path("copy")}, read_file(path("full")).substr(0, 150)),
               "it ends after 150 of");
  EXPECT_FALSE(std::filesystem::exists(path("copy")));
  // Another seed: a full copy goes instead of a delta, and is taken.
  const CommandResult other = tally({"diff", path("bloom"), path("seed"), "-o", path("other")});
  EXPECT_THAT(other.error, HasSubstr("different shapes, schemes or seeds"));
  expect_success(tally({"patch", path("copy"), path("full"), path("other")}));
}

}  // namespace
}  // namespace tally

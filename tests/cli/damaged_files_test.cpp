// No command answers from a filter file whose body is damaged, and every one says which file it is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "command_pages.hpp"
#include "random.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Arguments = std::vector<std::string>;

/// How each command reads filter files: BAD is the damaged one, GOOD another, OUT is to be written. None: it reads
/// no filter file.
const std::map<std::string, std::vector<Arguments>>& readers() {
  static const std::map<std::string, std::vector<Arguments>> table{
      {"add", {{"add", "BAD"}}},
      {"remove", {{"remove", "BAD"}}},
      {"halve", {{"halve", "BAD"}}},
      {"query", {{"query", "BAD"}, {"query", "--at-least", "1", "BAD"}}},
      {"count", {{"count", "BAD"}}},
      {"info", {{"info", "BAD"}, {"info", "--json", "BAD"}}},
      {"merge", {{"merge", "-o", "OUT", "GOOD", "BAD"}, {"merge", "-o", "OUT", "BAD", "GOOD"}}},
      {"build", {{"build", "-o", "OUT", "--like", "BAD"}}},
      {"verify", {{"verify", "--file", "BAD", "--trials", "2"}}},
      {"diff", {{"diff", "BAD"}, {"diff", "BAD", "GOOD"}, {"diff", "GOOD", "BAD"}}},
      {"patch", {{"patch", "BAD", "/dev/null"}}},
      {"watch", {{"watch", "BAD"}}},
      {"node", {{"node", "n", "--redis", "unix:///nonexistent", "--load", "BAD"}}},
      {"kmers", {}},
      {"over", {}},
      {"bench", {}},
      {"plan", {}},
      {"squid", {}},
      {"squid build", {}},
      {"squid fetch", {}},
      {"squid info", {}},
      {"squid query", {}},
      {"squid serve", {}},
      {"theory", {}},
      {"top", {}},
      {"uniq", {}},
  };
  return table;
}

/// Those that only answer, and take --no-verify.
const std::set<std::string> answering{"query", "count", "info", "build", "verify"};

/// The rows of the options that may name a filter file to read.
bool has_an_option_for_a_filter_file(const std::string& page) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const bool is_row = line.starts_with("| `") && !line.starts_with("| `-o");
    if (is_row &&
        (line.find("ilter file") != std::string::npos || line.find("The copy") != std::string::npos))
      return true;
  }
  return false;
}

class DamagedFiles : public ::testing::Test {
 protected:
  std::string build(const std::string& kind) {
    std::string path = directory / kind;
    Arguments line{"build", "-q", "--kind", kind, "-o", path};
    const Arguments size =
        kind == "count-min" ? Arguments{"--width", "500", "--depth", "2"} : Arguments{"-n", "500"};
    line.insert(line.end(), size.begin(), size.end());
    if (kind == "threshold") line.insert(line.end(), {"-t", "2"});
    const CommandResult result = run_tally(line, "1\n2\n2\n3\n");
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return path;
  }
  std::string with_one_bit_flipped(const std::string& good, Random& random) {
    constexpr std::size_t header_bytes = 128;
    std::string bytes = read_file(good);
    const std::size_t at = header_bytes + random.below(bytes.size() - header_bytes);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
    return directory.write("damaged", bytes);
  }
  Arguments filled(Arguments arguments, const std::string& bad, const std::string& good) {
    for (std::string& argument : arguments) {
      if (argument == "BAD") argument = bad;
      if (argument == "GOOD") argument = good;
      if (argument == "OUT") argument = directory / "out";
    }
    return arguments;
  }

  TemporaryDirectory directory;
};

const std::vector<std::string> kinds{"bloom",     "blocked-bloom", "counting-bloom",
                                     "threshold", "dleft",         "count-min"};

TEST_F(DamagedFiles, EveryCommandIsKnownToReadFilterFilesOrNot) {
  for (const auto& [name, page] : command_pages()) {
    ASSERT_TRUE(readers().contains(name)) << name << " is new: say here how it reads filter files";
    EXPECT_EQ(!readers().at(name).empty(), has_an_option_for_a_filter_file(page)) << name;
  }
  EXPECT_EQ(command_pages().size(), readers().size());
}

TEST_F(DamagedFiles, OneBitOfTheBodyEndsEveryCommandThatReadsIt) {
  Random random(1);
  for (const std::string& kind : kinds) {
    const std::string good = build(kind);
    for (const auto& [name, lines] : readers()) {
      for (const Arguments& line : lines) {
        const std::string bad = with_one_bit_flipped(good, random);
        const std::string bytes = read_file(bad);
        const CommandResult result = run_tally(filled(line, bad, good), "1\n");
        EXPECT_EQ(result.exit_code, 2) << kind << " " << name;
        EXPECT_EQ(result.output, "") << kind << " " << name;
        const bool has_no_summary = name == "diff" && (kind == "threshold" || kind == "count-min");
        if (has_no_summary && line.back() == "GOOD") {  // which is read first, and refused
          EXPECT_THAT(result.error,
                      HasSubstr("'" + good + "': a filter of kind " + kind + " has no summary"));
        } else {
          EXPECT_THAT(result.error,
                      AllOf(HasSubstr(bad + ": "), HasSubstr("(at byte "), Not(HasSubstr(good + " "))))
              << kind << " " << name;
        }
        EXPECT_EQ(read_file(bad), bytes) << kind << " " << name;
        EXPECT_FALSE(std::filesystem::exists(directory / "out")) << kind << " " << name;
      }
    }
  }
}

TEST_F(DamagedFiles, WhoeverKnowsMayAskAllTheSameButNotPassItOn) {
  Random random(2);
  const std::string good = build("counting-bloom");
  for (const auto& [name, lines] : readers()) {
    for (Arguments line : lines) {
      std::filesystem::remove(directory / "out");
      line.push_back("--no-verify");
      const CommandResult result = run_tally(filled(line, with_one_bit_flipped(good, random), good), "1\n");
      if (answering.contains(name)) {
        EXPECT_LE(result.exit_code, 1) << name << result.error;
      } else {
        EXPECT_EQ(result.exit_code, 2) << name;
        EXPECT_THAT(result.error, HasSubstr("'--no-verify'")) << name;
      }
    }
    const bool has_the_flag = command_pages().at(name).find("`--no-verify`") != std::string::npos;
    EXPECT_EQ(has_the_flag, answering.contains(name)) << name;
  }
  EXPECT_THAT(run_tally({"info", good}).output, HasSubstr("checksum verified"));
  EXPECT_THAT(run_tally({"info", "--no-verify", good}).output, HasSubstr("not verified"));
}

TEST_F(DamagedFiles, AnErrorOfTheKeyNamesTheFileToo) {
  const std::string secret = directory.write("secret", std::string(32, 'x'));
  const std::string keyed = directory / "keyed";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "9", "--key-file", secret, "-o", keyed}, "1\n").exit_code, 0);
  for (const Arguments& line : std::vector<Arguments>{
           {"query", keyed}, {"add", keyed}, {"merge", "-o", directory / "out", build("bloom"), keyed}}) {
    const CommandResult result = run_tally(line, "1\n");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr(keyed + ": tally file: made with the keyed hash"));
  }
}

TEST_F(DamagedFiles, AMessageThatIsDamagedAnywhereIsRefusedByName) {
  const std::string message = directory / "message";
  ASSERT_EQ(run_tally({"diff", "-q", build("bloom"), "-o", message}).exit_code, 0);
  const std::string good = read_file(message);
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 16) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    const std::string bad = directory.write("bad", flipped);
    const CommandResult result = run_tally({"patch", directory / "copy", bad});
    EXPECT_EQ(result.exit_code, 2) << at;
    EXPECT_THAT(result.error, HasSubstr(bad + " as a summary message: ")) << at;
    EXPECT_FALSE(std::filesystem::exists(directory / "copy"));
  }
}

TEST_F(DamagedFiles, AFileThatIsCutWhileItIsAskedEndsTheCommandWithAMessage) {
  const std::string path = directory / "filter";
  std::string keys;
  for (int i = 0; i < 1000; ++i) keys += std::to_string(i) + "\n";
  for (const Arguments& flags : std::vector<Arguments>{{}, {"--no-verify"}}) {
    ASSERT_EQ(run_tally({"build", "-q", "--force", "-n", "1M", "-o", path}, "0\n").exit_code, 0);
    Arguments line{TALLY_COMMAND, "query", "--line-buffered", path};
    line.insert(line.end(), flags.begin(), flags.end());
    RunningCommand query(line);
    query.write("0\n");
    EXPECT_EQ(query.read_line(), "0\n");  // it has opened the file
    std::filesystem::resize_file(path, 4096);
    query.write(keys);
    query.close_input();
    const CommandResult result = query.wait();
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("tally query: " + path + ": part of the file can no longer be read"));
  }
}

}  // namespace
}  // namespace tally::test

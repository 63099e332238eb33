#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"

// --line: the key is a field, and what is printed is its line.

namespace tally::test {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using Texts = std::vector<std::string>;

/// Lines "key number key's last byte": no two are equal.
Texts numbered_lines(const Texts& keys) {
  Texts lines;
  for (const std::string& key : keys)
    lines.push_back(key + ' ' + std::to_string(lines.size()) + ' ' + key.substr(key.size() - 1));
  return lines;
}

std::string joined(const Texts& lines, char separator = '\n') {
  std::string text;
  for (const std::string& line : lines) text += line + separator;
  return text;
}

const Texts& keys() {
  static const Texts all = split_keys(zipf_lines(50'000, 5'000, 0.9, 3));
  return all;
}

/// The lines that are the occurrence number n of their key.
Texts occurrence(std::size_t n) {
  std::unordered_map<std::string, std::size_t> counts;
  Texts found;
  const Texts lines = numbered_lines(keys());
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (++counts[keys()[i]] == n) found.push_back(lines[i]);
  return found;
}

Texts printed(const Texts& arguments, const std::string& input) {
  return split_keys(run_tally(arguments, input).output);
}

TEST(WholeLines, OfUniqAreTheFirstOfEachKey) {
  const std::string input = joined(numbered_lines(keys()));
  for (const Texts& way : std::vector<Texts>{
           {}, {"--may-repeat"}, {"--approximate", "--keys", "5K", "-p", "1e-9"}, {"--key-type", "text"}}) {
    for (const char* const fields : {"1", "1,3"}) {  // the last one joins fields that are not adjacent
      Texts arguments{"uniq", "--line", "-d", " ", "-f", fields, "--seed", "1"};
      arguments.insert(arguments.end(), way.begin(), way.end());
      EXPECT_EQ(printed(arguments, input), occurrence(1)) << fields;
    }
  }
}

TEST(WholeLines, OfOverAreThoseThatReachTheThreshold) {
  const std::string input = joined(numbered_lines(keys()));
  for (const Texts& way : std::vector<Texts>{
           {}, {"--exact"}, {"--keys", "5K", "-p", "1e-9"}, {"--window", "1h"}, {"--skip-bad"}}) {
    Texts arguments{"over", "3", "--line", "-d", " ", "-f", "1", "--seed", "1"};
    arguments.insert(arguments.end(), way.begin(), way.end());
    EXPECT_EQ(printed(arguments, input), occurrence(3));
  }
  EXPECT_THAT(
      printed({"over", "5", "--line", "-c", "-d", " ", "-f", "1", "--sum", "2"}, "a 2 x\nb 9 y\na 3 z\n"),
      ElementsAre("9\tb 9 y", "5\ta 3 z"));
}

TEST(WholeLines, OfQueryAreThoseOfTheMembersOrOfTheOthers) {
  const TemporaryDirectory directory;
  const std::string filter = directory / "filter";
  ASSERT_EQ(run_tally({"build", "--kind", "counting-bloom", "--theta", "2", "-n", "100", "-p", "1e-9", "-o",
                       filter},
                      "a\nb\nb\n")
                .exit_code,
            0);
  const std::string log = "1,a,x\n2,c,y\n3,b,z\n4\n";
  const Texts fields{"--line", "-d", ",", "-f", "2"};
  const auto with = [&](Texts arguments) {
    arguments.insert(arguments.end(), fields.begin(), fields.end());
    return printed(arguments, log);
  };
  EXPECT_THAT(with({"query", filter}), ElementsAre("1,a,x", "3,b,z"));
  EXPECT_THAT(with({"query", "-v", filter}), ElementsAre("2,c,y", "4"));
  EXPECT_THAT(with({"query", "--at-least", "2", filter}), ElementsAre("3,b,z"));
  EXPECT_THAT(with({"count", filter}), ElementsAre("1\t1,a,x", "0\t2,c,y", "2\t3,b,z", "0\t4"));
}

TEST(WholeLines, AreTheLinesWithoutThemIfTheKeyIsTheLine) {
  const std::string input = "b\na\nb\n\na\n";
  EXPECT_EQ(run_tally({"uniq", "--line"}, input).output, run_tally({"uniq"}, input).output);
  EXPECT_EQ(run_tally({"over", "2", "--line"}, input).output, run_tally({"over", "2"}, input).output);
}

TEST(WholeLines, EndInNulIfTheInputDoes) {
  EXPECT_EQ(run_tally({"uniq", "--line", "-z", "-d", " ", "-f", "1"}, "a 1\n\0a 2\0b 3\0"s).output,
            "a 1\n\0b 3\0"s);
}

TEST(WholeLines, AreInJsonBesideTheirKeys) {
  const Texts found =
      printed({"uniq", "--line", "--json", "-d", " ", "-f", "1,3"}, "a 1 x\na 2 x\nb \xff y\n");
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(Json::parse(found[0]), (Json{{"key", "a x"}, {"line", "a 1 x"}}));
  EXPECT_EQ(Json::parse(found[1]),
            (Json{{"key", "b y"}, {"line", "b \xef\xbf\xbd y"}, {"line_hex", "6220ff2079"}}));
  EXPECT_EQ(Json::parse(printed({"over", "2", "--line", "--json", "-d", " ", "-f", "1"}, "a 1\na 2\n")[0]),
            (Json{{"key", "a"}, {"line", "a 2"}, {"count", 2}}));
}

TEST(WholeLines, OfKeysThatAreSkippedAreSkipped) {
  const std::string input = "7 a\nx b\n07 c\ny d\n8 e\n7 f\n";
  EXPECT_THAT(
      printed({"over", "1", "--line", "--skip-bad", "--key-type", "u64", "-d", " ", "-f", "1"}, input),
      ElementsAre("7 a", "8 e"));
  EXPECT_THAT(
      printed({"over", "2", "--line", "--skip-bad", "--key-type", "u64", "-d", " ", "-f", "1"}, input),
      ElementsAre("07 c"));
  const CommandResult refused =
      run_tally({"uniq", "--line", "--key-type", "u64", "-d", " ", "-f", "1"}, input);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("line 2"));
}

}  // namespace
}  // namespace tally::test

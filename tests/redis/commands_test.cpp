#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "running_module.hpp"
#include "server_port.hpp"

// What the module says about its commands, to clients, clusters and access rules.

namespace tally::test {
namespace {

using testing::AnyOf;
using testing::StartsWith;

class CommandInfo : public WithModule {};

/// The syntax and the summary of a command.
using CommandLine = std::pair<std::string, std::string>;

const RedisReply& field(const RedisReply& pairs, const std::string& name) {
  static const RedisReply none;
  for (std::size_t i = 0; i + 1 < pairs.elements.size(); i += 2) {
    if (pairs.elements[i].text == name) return pairs.elements[i + 1];
  }
  return none;
}

std::string joined(const RedisReply& arguments, const char* separator);

/// An argument of COMMAND DOCS in the notation of the page.
std::string shown_argument(const RedisReply& argument) {
  const std::string type = field(argument, "type").text;
  const std::string flags = field(argument, "flags").shown();
  const bool is_optional = flags.find("optional") != std::string::npos;
  std::string text = field(argument, "token").text;
  if (type == "oneof") {
    text = joined(field(argument, "arguments"), " | ");
    if (!is_optional) text = "(" + text + ")";
  } else if (type == "block") {
    text = joined(field(argument, "arguments"), " ");
    if (!is_optional) text = "(" + text + ")";
  } else if (type != "pure-token") {
    if (!text.empty()) text += ' ';
    text += field(argument, "name").text;
  }
  if (flags.find("multiple") != std::string::npos) text += " ...";
  return is_optional ? "[" + text + "]" : text;
}

std::string joined(const RedisReply& arguments, const char* separator) {
  std::string text;
  for (const RedisReply& argument : arguments.elements) {
    if (!text.empty()) text += separator;
    text += shown_argument(argument);
  }
  return text;
}

RedisReply docs(RunningModule& redis, const std::string& command) {
  RedisReply reply = redis.call({"COMMAND", "DOCS", command});
  return reply.elements.size() == 2 ? reply.elements[1] : RedisReply{};
}

CommandLine documented(RunningModule& redis, const std::string& command) {
  const RedisReply reply = docs(redis, command);
  return {joined(field(reply, "arguments"), " "), field(reply, "summary").text};
}

std::vector<std::string> registered(RunningModule& redis) {
  std::vector<std::string> names;
  for (const RedisReply& name : redis.call({"COMMAND", "LIST", "FILTERBY", "MODULE", "tally"}).elements) {
    names.push_back(name.text);
    for (char& letter : names.back()) letter = static_cast<char>(std::toupper(letter));
  }
  return names;
}

/// Whether it is a compatible name with TALLY. before it.
bool is_second_name(const std::string& name) {
  return name.starts_with("TALLY.") && name.find('.', 6) != std::string::npos;
}

/// The rows of commands in docs/redis.md.
std::map<std::string, CommandLine> commands_of_page() {
  std::ifstream page(TALLY_REDIS_TEST_DIR "/../../docs/redis.md");
  const std::regex row(R"(\| `([A-Z]+\.[A-Z]+) ([^`]*)` \| (.*) \|)");
  std::map<std::string, CommandLine> commands;
  std::smatch match;
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_match(line, match, row)) continue;
    commands[match[1]] = {std::regex_replace(match[2].str(), std::regex(R"(\\\|)"), "|"), match[3]};
  }
  return commands;
}

TEST_F(CommandInfo, AndThePageSayTheSameAboutEveryCommand) {
  RunningModule redis;
  std::map<std::string, CommandLine> served;
  for (const std::string& name : registered(redis)) {
    if (is_second_name(name)) {
      EXPECT_EQ(documented(redis, name), documented(redis, name.substr(6))) << name;
    } else {
      served[name] = documented(redis, name);
    }
  }
  EXPECT_GE(served.size(), 50U);
  const auto page = commands_of_page();
  for (const auto& [name, line] : served) {
    EXPECT_TRUE(page.contains(name)) << "docs/redis.md needs: | `" << name << " " << line.first << "` | "
                                     << line.second << " |";
  }
  for (const auto& [name, line] : page) EXPECT_EQ(served[name], line) << name;
}

TEST_F(CommandInfo, SaysHowLongEveryCommandTakesAndWhenItCame) {
  RunningModule redis;
  for (const std::string& name : registered(redis)) {
    const RedisReply reply = docs(redis, name);
    EXPECT_THAT(field(reply, "complexity").text, StartsWith("O(")) << name;
    EXPECT_EQ(field(reply, "since").text, "0.1.0") << name;
    EXPECT_EQ(field(reply, "group").text, "module") << name;
  }
}

TEST_F(CommandInfo, HasTypesAndKeysOfArguments) {
  RunningModule redis;
  const RedisReply arguments = field(docs(redis, "CMS.MERGE"), "arguments");
  ASSERT_EQ(arguments.elements.size(), 4U);
  EXPECT_EQ(field(arguments.elements[0], "type").text, "key");
  EXPECT_EQ(field(arguments.elements[0], "key_spec_index").text, "0");
  EXPECT_EQ(field(arguments.elements[1], "type").text, "integer");
  for (const RedisReply& argument : arguments.elements) {  // which newer servers have
    EXPECT_THAT(field(argument, "display_text").text, AnyOf("", field(argument, "name").text));
  }
  EXPECT_EQ(field(arguments.elements[2], "key_spec_index").text, "1");
  EXPECT_EQ(field(arguments.elements[3], "token").text, "WEIGHTS");
  EXPECT_EQ(field(field(docs(redis, "BF.RESERVE"), "arguments").elements[1], "type").text, "double");
  EXPECT_EQ(field(field(docs(redis, "BF.RESERVE"), "arguments").elements[4], "type").text, "pure-token");
}

TEST_F(CommandInfo, StatesTheNumberOfArgumentsSoThatATransactionFailsAtOnce) {
  RunningModule redis;
  EXPECT_EQ(redis.call({"COMMAND", "INFO", "BF.ADD"}).elements[0].elements[1].shown(), ":3");
  EXPECT_EQ(redis.call({"COMMAND", "INFO", "BF.MADD"}).elements[0].elements[1].shown(), ":-3");
  expect_replies(redis, {{{"MULTI"}, "+OK"},
                         {{"BF.ADD", "key"}, "-ERR wrong number of arguments for 'BF.ADD' command"},
                         {{"EXEC"}, "-EXECABORT Transaction discarded because of previous errors."}});
}

TEST_F(CommandInfo, DeclaresEveryKeyAndWhatHappensToIt) {
  RunningModule redis;
  for (const ExpectedReply& row : std::vector<ExpectedReply>{
           {{"BF.RESERVE", "a", "0.01", "100"}, R"([["a", [+RW, +insert]]])"},
           {{"BF.MADD", "a", "x", "y"}, R"([["a", [+RW, +insert]]])"},
           {{"BF.EXISTS", "a", "x"}, R"([["a", [+RO, +access]]])"},
           {{"BF.LOADCHUNK", "a", "1", "x"}, R"([["a", [+RW, +update]]])"},
           {{"CF.DEL", "a", "x"}, R"([["a", [+RW, +delete]]])"},
           {{"CMS.INCRBY", "a", "x", "1"}, R"([["a", [+RW, +access, +update]]])"},
           {{"CMS.MERGE", "a", "2", "b", "c"},
            R"([["a", [+OW, +update]], ["b", [+RO, +access]], ["c", [+RO, +access]]])"},
           {{"CMS.MERGE", "a", "1", "b", "WEIGHTS", "2"},
            R"([["a", [+OW, +update]], ["b", [+RO, +access]]])"},
           {{"TALLY.CMS.MERGE", "a", "1", "a"}, R"([["a", [+OW, +update]], ["a", [+RO, +access]]])"},
           {{"TALLY.MERGE", "a", "b", "c"},
            R"([["a", [+RW, +update]], ["b", [+RO, +access]], ["c", [+RO, +access]]])"},
           {{"TALLY.OVER", "a", "3", "x"}, R"([["a", [+RW, +access, +update]]])"},
           {{"TALLY.BATCH", "a", "w", "1", "1", "ADD", "x"}, R"([["a", [+RW, +access, +update]]])"},
           {{"TALLY.PACKEDREAD", "a", "COUNT", "x"}, R"([["a", [+RO, +access]]])"},
           {{"TALLY.SUMMARY", "a", "SINCE", "0"}, R"([["a", [+RO, +access]]])"},
           {{"TALLY.PLAN", "--keys", "1M"}, "-ERR The command has no key arguments"}}) {
    Words words{"COMMAND", "GETKEYSANDFLAGS"};
    words.insert(words.end(), row.words.begin(), row.words.end());
    EXPECT_EQ(redis(words), row.reply) << row.words[0];
  }
}

// Access rules.

constexpr const char* no_key = "-NOPERM";

TEST_F(CommandInfo, AccessRulesSeeTheSourcesOfMerges) {
  RunningModule redis;
  redis({"CMS.INITBYDIM", "mine:a", "10", "2"});
  redis({"CMS.INITBYDIM", "theirs:a", "10", "2"});
  redis({"TALLY.CREATE", "mine:f", "--keys", "100", "--kind", "bloom", "--seed", "1"});
  redis({"TALLY.CREATE", "theirs:f", "--keys", "100", "--kind", "bloom", "--seed", "1"});
  EXPECT_EQ(redis({"ACL", "SETUSER", "ann", "on", "nopass", "+@all", "~mine:*"}), "+OK");
  EXPECT_EQ(redis({"AUTH", "ann", ""}), "+OK");
  EXPECT_EQ(redis({"CMS.MERGE", "mine:a", "1", "mine:a"}), "+OK");
  EXPECT_THAT(redis({"CMS.MERGE", "mine:a", "1", "theirs:a"}), StartsWith(no_key));
  EXPECT_THAT(redis({"CMS.MERGE", "mine:a", "2", "mine:a", "theirs:a"}), StartsWith(no_key));
  EXPECT_THAT(redis({"TALLY.CMS.MERGE", "mine:a", "1", "theirs:a"}), StartsWith(no_key));
  EXPECT_EQ(redis({"CMS.MERGE", "mine:a", "many", "mine:a"}), "-CMS: invalid numkeys");
  EXPECT_EQ(redis({"TALLY.MERGE", "mine:f", "mine:f"}), "+OK");
  EXPECT_THAT(redis({"TALLY.MERGE", "mine:f", "mine:f", "theirs:f"}), StartsWith(no_key));
  EXPECT_THAT(redis({"BF.ADD", "theirs:b", "x"}), StartsWith(no_key));
}

TEST_F(CommandInfo, AClusterSeesTheSourcesOfMerges) {
  const ServerPort bus;
  RunningModule redis({"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus.number())});
  ASSERT_EQ(redis({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}), "+OK");
  ASSERT_TRUE(comes_true([&] { return redis({"CMS.INITBYDIM", "{x}a", "10", "2"}) == "+OK"; }));
  const std::string other_slot = "-CROSSSLOT Keys in request don't hash to the same slot";
  expect_replies(redis, {{{"CMS.INITBYDIM", "{x}b", "10", "2"}, "+OK"},
                         {{"CMS.INITBYDIM", "{y}a", "10", "2"}, "+OK"},
                         {{"CMS.MERGE", "{x}a", "1", "{x}b", "WEIGHTS", "2"}, "+OK"},
                         {{"CMS.MERGE", "{x}a", "2", "{x}b", "{y}a"}, other_slot},
                         {{"TALLY.MERGE", "{x}f", "{x}g", "{y}f"}, other_slot}});
}

TEST_F(CommandInfo, AUserWhoMayOnlyReadAKeyCannotChangeIt) {
  RunningModule redis;
  redis({"BF.ADD", "filter", "x"});
  redis({"CMS.INITBYDIM", "sketch", "10", "2"});
  redis({"CMS.INITBYDIM", "own", "10", "2"});
  EXPECT_EQ(redis({"ACL", "SETUSER", "ann", "on", "nopass", "+@all", "%R~*", "~own"}), "+OK");
  EXPECT_EQ(redis({"AUTH", "ann", ""}), "+OK");
  EXPECT_EQ(redis({"BF.EXISTS", "filter", "x"}), ":1");
  EXPECT_THAT(redis({"BF.ADD", "filter", "y"}), StartsWith(no_key));
  EXPECT_THAT(redis({"CMS.INCRBY", "sketch", "y", "1"}), StartsWith(no_key));
  EXPECT_EQ(redis({"CMS.MERGE", "own", "1", "sketch"}), "+OK");
  EXPECT_THAT(redis({"CMS.MERGE", "sketch", "1", "own"}), StartsWith(no_key));
}

TEST_F(CommandInfo, EveryCommandIsInTheCategoryOfItsFamilyWhereTheServerHasThem) {
  RunningModule redis;
  if (redis.call({"COMMAND", "INFO", "BF.ADD"}).elements[0].elements[6].elements.empty()) {
    GTEST_SKIP()
        << "this server has no access categories for commands of modules (Redis 7.2 and Valkey have)";
  }
  const auto categories = [&](const char* command) {
    return redis.call({"COMMAND", "INFO", command}).elements[0].elements[6].shown();
  };
  EXPECT_EQ(categories("BF.ADD"), "[+@write, +@slow, +@bloom]");
  EXPECT_EQ(categories("BF.EXISTS"), "[+@read, +@fast, +@bloom]");
  EXPECT_EQ(categories("TALLY.CF.DEL"), "[+@write, +@fast, +@cuckoo]");
  EXPECT_EQ(categories("CMS.MERGE"), "[+@write, +@slow, +@cms]");
  EXPECT_EQ(categories("TOPK.LIST"), "[+@read, +@slow, +@topk]");
  EXPECT_EQ(categories("TALLY.SUMMARY"), "[+@read, +@slow, +@tally]");
  for (const char* rule : {"+@read", "+@bloom -@write"}) {
    redis({"BF.ADD", "filter", "x"});
    Words words{"ACL", "SETUSER", "ann", "reset", "on", "nopass", "~*", "+auth"};
    for (std::istringstream parts(rule); parts >> words.emplace_back();) {
    }
    words.pop_back();
    EXPECT_EQ(redis(words), "+OK") << rule;
    EXPECT_EQ(redis({"AUTH", "ann", ""}), "+OK");
    EXPECT_EQ(redis({"BF.EXISTS", "filter", "x"}), ":1") << rule;
    EXPECT_THAT(redis({"BF.ADD", "filter", "y"}), StartsWith(no_key)) << rule;
    EXPECT_EQ(redis({"AUTH", "default", ""}), "+OK");
  }
}

TEST_F(CommandInfo, AUserMayBeAllowedSingleCommandsOnEveryServer) {
  RunningModule redis;
  redis({"BF.ADD", "filter", "x"});
  EXPECT_EQ(redis({"ACL", "SETUSER", "ann", "on", "nopass", "~*", "+bf.exists"}), "+OK");
  EXPECT_EQ(redis({"AUTH", "ann", ""}), "+OK");
  EXPECT_EQ(redis({"BF.EXISTS", "filter", "x"}), ":1");
  EXPECT_THAT(redis({"BF.ADD", "filter", "y"}), StartsWith(no_key));
  EXPECT_THAT(redis({"TALLY.BF.EXISTS", "filter", "x"}), StartsWith(no_key));
}

}  // namespace
}  // namespace tally::test

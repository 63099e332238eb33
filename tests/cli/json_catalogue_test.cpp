// What every command prints as JSON, beside the schema that the command itself prints.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "command_pages.hpp"
#include "command_runner.hpp"
#include "fake_redis.hpp"
#include "json_schema.hpp"
#include "key_report.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

std::string command_of(const Words& words) {
  return words.front() == "squid" ? "squid " + words.at(1) : words.front();
}

/// Runs commands, holds what they print against the schema, and remembers the members that they printed.
class Outputs {
 public:
  void hold(Words words, const std::string& input = "") {
    words.emplace_back("--json");
    const CommandResult result = run_tally(words, input);
    std::string shown;
    for (const std::string& word : words) shown += word + " ";
    EXPECT_LT(result.exit_code, 2) << shown << result.error;
    EXPECT_FALSE(result.output.empty()) << shown << result.error;
    take(command_of(words), result.output, shown);
  }
  void take(const std::string& command, const std::string& output, const std::string& shown) {
    const JsonSchema::Findings findings = check_json_output(command, output);
    EXPECT_THAT(findings.errors, IsEmpty()) << shown;
    members_.insert(findings.members.begin(), findings.members.end());
    commands_.insert(command);
  }
  const std::set<std::string>& members() const { return members_; }
  const std::set<std::string>& commands() const { return commands_; }

 private:
  std::set<std::string> members_;
  std::set<std::string> commands_;
};

void hold_streams(Outputs& outputs, const TemporaryDirectory& directory) {
  const std::string keys = "a\nb\na\n\xff\na\n";
  const std::string timed =
      "2026-01-01T00:00:00Z\ta\t1\n2026-01-01T00:00:01Z\ta\t3\n2026-01-01T00:00:00Z\ta\t3\n";
  outputs.hold({"over", "2", "--exact"}, keys);
  outputs.hold({"over", "1", "--line", "-d", " ", "-f", "1"}, "a b\n\xff \xfe\n");
  outputs.hold({"over", "2", "--keys", "100", "--keyed"}, keys);
  outputs.hold({"over", "2", "--update", "conservative", "--exact", "--memory", "4KiB"}, keys);
  outputs.hold({"over", "2", "-f", "2", "--sum", "3", "--window", "10m", "--time", "1"}, timed);
  outputs.hold({"over", "2", "--window", "10m", "--keyed"}, keys);
  outputs.hold({"over", "2", "--counts-at-end"}, keys);
  std::string many_keys;
  for (int i = 0; i < 1'000; ++i) many_keys += std::to_string(i) + "\n";
  outputs.hold({"over", "1", "--counts-at-end", "--memory", "64KiB"}, many_keys);
  outputs.hold({"uniq", "--keyed"}, keys);
  outputs.hold({"uniq", "--approximate", "-n", "10", "--line", "-d", " ", "-f", "1"}, "a b\na\xff \xff\n");
  outputs.hold({"uniq", "--may-repeat"}, keys);
  outputs.hold({"top", "2", "--exact", "--keyed"}, keys);
  outputs.hold({"top", "--share", "1%", "--method", "space-saving"}, keys);
  outputs.hold({"top", "-f", "2", "--sum", "3", "--window", "10m", "--interval", "1s", "--time", "1"}, timed);
  for (const Words& words :
       {Words{"over", "2"}, Words{"over", "2", "--window", "10m"}, Words{"uniq"}, Words{"top"}}) {
    Words with_every = words;
    with_every.insert(with_every.end(), {"--every", "1us"});
    outputs.hold(with_every, keys);
  }
  const std::string saved = directory / "top";
  ASSERT_EQ(run_tally({"top", "-q", "--save", saved}, keys).exit_code, 0);
  ASSERT_EQ(run_tally({"top", "-q", "--save", saved + "2"}, keys).exit_code, 0);
  outputs.hold({"top", "2", "--from", saved, saved + "2"});
  outputs.hold({"merge", "-o", directory / "merged-top", saved, saved + "2"});
  outputs.hold({"info", saved});
  const std::string key_file = directory.write("stream-key", std::string(64, 'a'));
  ASSERT_EQ(run_tally({"top", "-q", "--save", saved + "3", "--key-file", key_file}, keys).exit_code, 0);
  outputs.hold({"top", "2", "--from", saved + "3", "--key-file", key_file});
  outputs.hold({"info", "--key-file", key_file, saved + "3"});
  outputs.hold({"merge", "-o", directory / "keyed-top", saved + "3", saved + "3", "--key-file", key_file});
  const std::string sketches = std::string(TALLY_TEST_DATA_DIR) + "/golden/sketches/";
  for (const char* const name :
       {"count-min-window-pairwise.tally", "space-saving.tally", "top-keys-pairwise.tally"})
    outputs.hold({"info", sketches + name});
  const std::string window = sketches + "count-min-window-pairwise.tally";
  outputs.hold({"merge", "-o", directory / "merged-window", window, window});
  const std::string reads = ">one\nACGTACGTACGTAGGC\n>two\nACGTACGTACGTAGGC\n";
  outputs.hold({"kmers", "-k", "5", "--size", "100"}, reads);
  outputs.hold({"kmers", "-k", "5", "--size", "100", "--counts", "--keyed"}, reads);
  outputs.hold({"kmers", "-k", "5", "-L", "1", "--histogram", "-"}, reads);
  outputs.hold({"kmers", "-k", "5", "--lower-count", "1", "--keyed"}, reads);
  outputs.hold({"kmers", "-k", "5", "--size", "100", "-o", directory / "kmers"}, reads);
}

void hold_filters(Outputs& outputs, const TemporaryDirectory& directory) {
  const std::string keys = "a\nb\na\n\xff\n";
  const std::string key_file = directory.write("key", std::string(64, 'a'));
  for (const char* const kind : {"bloom", "blocked-bloom", "counting-bloom", "blocked-counting-bloom",
                                 "threshold", "dleft", "compact-dleft", "count-min"}) {
    const std::string path = directory / kind;
    const bool is_sketch = std::string(kind) == "count-min";
    Words build{"build", "--kind", kind, "-o", path};
    if (is_sketch) build.insert(build.end(), {"--epsilon", "1%"});
    else build.insert(build.end(), {"-n", "1000"});
    if (std::string(kind) == "threshold") build.insert(build.end(), {"-t", "2"});
    if (std::string(kind) == "compact-dleft") build.emplace_back("--unique-keys");
    outputs.hold(build, keys);
    outputs.hold({"add", path}, keys);
    outputs.hold({"info", path});
    outputs.hold({"query", path}, keys);
  }
  outputs.hold({"info", "--no-verify", directory / "bloom"});
  outputs.hold({"build", "-n", "100", "--key-file", key_file, "-o", directory / "keyed"}, keys);
  outputs.hold({"info", "--key-file", key_file, directory / "keyed"});
  for (const char* const kind : {"counting-bloom", "dleft", "compact-dleft"})
    outputs.hold({"remove", directory / kind}, "a\nnever\n");
  outputs.hold({"count", directory / "dleft", "--line", "-f", "1"}, "a\tb\n\xff\t\xff\n");
  outputs.hold({"count", directory / "count-min"}, keys);
  outputs.hold({"halve", directory / "count-min"});
  outputs.hold({"merge", "-o", directory / "merged", directory / "bloom", directory / "bloom"});
  outputs.hold({"diff", directory / "bloom", "-o", directory / "full"});
  ASSERT_EQ(run_tally({"build", "-q", "-n", "1000", "-o", directory / "later"}, "a\nb\nc\n\xff\n").exit_code,
            0);
  outputs.hold({"diff", directory / "bloom", directory / "later", "-o", directory / "delta"});
  outputs.hold({"patch", directory / "copy", directory / "full", directory / "delta"});
  const std::string urls = "http://host/a\nhttp://host/b\n";
  outputs.hold({"squid", "build", "-o", directory / "digest"}, urls);
  outputs.hold({"squid", "info", directory / "digest"});
  outputs.hold({"squid", "query", directory / "digest"}, urls);
}

void hold_plans(Outputs& outputs) {
  outputs.hold({"plan", "-n", "1M", "-p", "1%"});
  outputs.hold({"plan", "-n", "1M", "-p", "1%", "--deletes", "--fastest"});
  outputs.hold({"plan", "-n", "10k", "--zipf", "1", "--insertions", "40k", "-t", "3", "-p", "1%"});
  outputs.hold({"plan", "-n", "1M", "-m", "4MiB", "--max-doublings", "2"});
  outputs.hold({"plan", "--epsilon", "1%", "--total-count", "1M"});
  outputs.hold({"plan", "--epsilon", "1%", "--keys", "1000", "--zipf", "1", "--insertions", "10000"});
  outputs.hold(
      {"plan", "--epsilon", "1%", "--keys", "1000", "--zipf", "1", "--insertions", "10000", "--weights", "-"},
      "40 2\n1500 1\n");
  outputs.hold({"verify", "-n", "500", "-p", "5%", "--trials", "20"});
  outputs.hold({"plan", "-n", "500", "-p", "5%", "-m", "10k"});
  outputs.hold({"plan", "-n", "500", "-p", "5%", "-m", "64", "--deletes"});
  outputs.hold({"plan", "-n", "500", "-p", "5%", "--merge", "3", "--peers", "7", "--counts"});
  outputs.hold({"plan", "-n", "500", "-p", "5%", "--window", "4"});
  outputs.hold({"verify", "-n", "50", "-p", "5%", "--trials", "5", "--scheme", "all"});
  outputs.hold({"theory"});
  outputs.hold({"theory", "bloom-false-positive-rate", "--m", "10M", "--k", "7", "--n", "1M"});
  outputs.hold({"theory", "dleft-load", "--d", "2", "--load", "2"});
  outputs.hold({"theory", "kappa-star", "--theta", "3"});
  outputs.hold({"bench", "-n", "10k", "-p", "5%", "--deletes", "--fastest", "--rounds", "1"});
}

/// What the module does for filters and lists of frequent keys, beside those of FakeStore.
std::string serve_filters(FakeStore& store, const FakeRedis::Words& words) {
  if (words[0] == "TALLY.PLAN") {
    return array_of({bulk("kind"), bulk("counting-bloom"), bulk("options"), bulk("--keys 100"), bulk("bytes"),
                     integer(128)});
  }
  if (words[0] == "TALLY.CREATE" || words[0] == "TALLY.TOPK.RESERVE") {
    store.shards[words[1]];
    return "+OK\r\n";
  }
  if (words[0] == "TALLY.TOPK.LIST") return array_of({bulk("a"), integer(2)});
  if (words[0] == "TALLY.PACKEDREAD" && words[2] == "QUERY") return bulk("1");
  if (words[0] == "TALLY.PACKEDREAD") return array_of({integer(1)});
  return store.serve(words);
}

void hold_stores(Outputs& outputs) {
  std::mutex mutex;
  FakeStore store;
  FakeRedis server([&](const FakeRedis::Words& words) -> FakeRedis::Answer {
    const std::scoped_lock lock(mutex);
    return serve_filters(store, words);
  });
  const auto at = [&](const char* name) { return "redis://" + server.host_and_port() + "/" + name; };
  outputs.hold({"over", "2", "--store", at("over")}, "a\na\n");
  outputs.hold({"uniq", "--store", at("uniq")}, "a\n");
  outputs.hold({"top", "2", "--store", at("top")}, "a\n");
  outputs.hold({"build", "-n", "100", "--store", at("filter")}, "a\n");
  outputs.hold({"add", "--store", at("filter")}, "a\n");
  outputs.hold({"remove", "--store", at("filter")}, "a\n");
  outputs.hold({"query", "--store", at("filter")}, "a\n");
  outputs.hold({"count", "--store", at("filter")}, "a\n");
}

/// Returns false if there is no server for it.
bool hold_node(Outputs& outputs) {
  if (!has_redis()) return false;
  const RunningRedis redis;
  const Flags no_socket{"--api-socket", "none"};
  NodeProcess peer(redis, "peer", no_socket);
  EXPECT_TRUE(peer.wait_for(0));
  NodeProcess node(redis, "own", no_socket);
  EXPECT_TRUE(node.wait_for(1));
  for (const char* const line : {"?\xff", "!wait 1 20s", "!status"}) {
    node.say(line);
    outputs.take("node", node.answer().dump(-1, ' ', false, nlohmann::json::error_handler_t::strict), line);
  }
  return true;
}

TEST(JsonCatalogue, EveryCommandPrintsWhatItSaysAndAllThatItSays) {
  TemporaryDirectory directory;
  Outputs outputs;
  hold_streams(outputs, directory);
  hold_filters(outputs, directory);
  hold_plans(outputs);
  hold_stores(outputs);
  const bool has_node = hold_node(outputs);

  std::vector<std::string> never_printed;
  std::ranges::set_difference(JsonSchema::of_the_command().all_members(), outputs.members(),
                              std::back_inserter(never_printed));
  if (!has_node)
    std::erase_if(never_printed, [](const std::string& name) { return name.starts_with("node_"); });
  // Their members are printed as those of the records that have these parts.
  const std::set<std::string> parts{"key_bytes",  "line_bytes",   "hash",        "run",
                                    "top_totals", "kmers_totals", "store_totals"};
  std::erase_if(never_printed,
                [&](const std::string& name) { return parts.contains(name.substr(0, name.find('.'))); });
  for (const std::string& name : never_printed) ADD_FAILURE() << "no command of this test prints " << name;
  for (const auto& [command, page] : command_pages()) {
    if (page.find("`--json`") == std::string::npos || (command == "node" && !has_node)) continue;
    EXPECT_THAT(outputs.commands(), Contains(command)) << "prints JSON, and is not in this test";
  }
}

TEST(JsonCatalogue, TheCheckFindsWhatIsMissingAddedOrOfAnotherType) {
  const auto errors = [](const char* command, const char* text) {
    return JsonSchema::of_the_command().check(command, nlohmann::json::parse(text)).errors;
  };
  EXPECT_THAT(errors("uniq", R"({"key": "a"})"), IsEmpty());
  EXPECT_THAT(errors("uniq", R"({"key": 1})"), Contains(HasSubstr("/key is 1, not")));
  EXPECT_THAT(errors("uniq", R"({"key_hex": "ff"})"), Contains(HasSubstr("/key is missing")));
  EXPECT_THAT(errors("uniq", R"({"key": "a", "count": 1})"),
              Contains(HasSubstr("/count is not in the catalogue")));
  EXPECT_THAT(errors("query", R"({"num_keys": 1.0, "num_found": 1, "num_absent": 0})"),
              Contains(HasSubstr("/num_keys is 1.0, not")));
  EXPECT_THAT(errors("query", "[]"), Contains(HasSubstr("is [], not")));
  EXPECT_THAT(errors("patch", "{}"), Contains(HasSubstr("/is_current is missing")));
  EXPECT_THAT(errors("no-command", "{}"), Contains(HasSubstr("there is no")));
}

TEST(JsonCatalogue, HasAMeaningForEveryMemberAndOneForm) {
  const auto schema = nlohmann::json::parse(run_tally({"--generate", "json-schema"}).output);
  EXPECT_EQ(schema["json_version"], 1);
  EXPECT_THAT(run_tally({"--version"}).output, HasSubstr("\nJSON version 1\n"));
  for (const auto& [name, record] : schema["$defs"].items()) {
    if (!record.contains("properties")) continue;
    EXPECT_FALSE(record["description"].get<std::string>().empty()) << name;
    for (const auto& [member, own] : record["properties"].items()) {
      const std::string meaning = own["description"];
      EXPECT_FALSE(meaning.empty() || meaning.ends_with(".")) << name << "." << member;
      const bool is_in_bytes = own.value("x-unit", "") == "bytes";
      EXPECT_EQ(member.find("bytes") != std::string::npos, is_in_bytes) << name << "." << member;
      EXPECT_EQ(member.ends_with("_ns"), own.value("x-unit", "") == "ns") << name << "." << member;
      EXPECT_EQ(member.ends_with("seconds"), own.value("x-unit", "") == "seconds") << name << "." << member;
    }
  }
}

TEST(JsonCatalogue, TheBytesOfEveryKeyAreThereByOneRule) {
  std::string input;
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != '\n') input += std::string("k") + static_cast<char>(byte) + "\n";
  }
  input += "\xc3\xa9\n\xed\xa0\x80\n\xf4\x90\x80\x80\n\xef\xbf\xbd\n";
  for (const Words& words : {Words{"uniq"}, Words{"over", "1"}}) {
    std::string bytes;
    for (const std::string& key : run_for_keys(words, input).keys) bytes += key + "\n";
    EXPECT_EQ(bytes, input) << words.front();
  }
}

}  // namespace
}  // namespace tally::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"

// `tally over` with a second thread that reads ahead prints what it prints with one.

namespace tally::test {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Texts = std::vector<std::string>;

// Each test runs in a process of its own, so a test makes only the texts that it reads.
struct Stream {
  std::string name;
  std::vector<std::string> flags;
  Texts (*texts)();
};

void PrintTo(const Stream& stream, std::ostream* os) { *os << stream.name; }

std::string records_of(const std::string& lines) {
  std::string records;
  for (const std::string& key : split_keys(lines))
    records += key + " middle " + key.substr(key.size() - 1) + '\n';
  return records;
}

std::string csv_of(const std::string& lines, const std::string& header) {
  std::string records = header + '\n';
  for (const std::string& key : split_keys(lines))
    records += '"' + key + "\"," + key.substr(key.size() - 1) + '\n';
  return records;
}

std::string lines_of_all_lengths() {
  std::string text;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size :
         {0U, 1U, 65'535U, 65'536U, 65'537U, 3U, 131'072U, 200'000U, 1'000'000U, 2U}) {
      text += std::string(size, 'x') + '\n' + zipf_lines(3000, 1000, 0.9, size);
    }
  }
  return text;
}

std::string one_byte_lines() {
  std::string text = zipf_lines(150'000, 30'000, 1.0, 5);
  for (int i = 0; i < 400'000; ++i) text += {static_cast<char>('a' + i % 7), '\n'};
  return text;
}

std::string zipf() { return zipf_lines(300'000, 60'000, 1.0, 1); }
std::string flat() { return zipf_lines(300'000, 200'000, 0.3, 2); }
std::string with_nul() {
  std::string text = zipf();
  std::replace(text.begin(), text.end(), '\n', '\0');
  return text;
}

template <auto text>
Texts one() {
  return {text()};
}

std::vector<Stream> streams() {
  return {{"planned", {"3", "--keys", "30K", "-p", "10%"}, one<zipf>},
          {"twice", {"2", "--keys", "30K", "-c"}, one<zipf>},
          {"every_key", {"1"}, one<zipf>},
          {"conservative", {"5", "--keys", "20K", "-p", "20%", "--update", "conservative", "-c"}, one<zipf>},
          {"generations", {"3", "--keys", "500", "-p", "5%", "-c"}, one<zipf>},
          {"exact_and_then_planned",
           {"3", "-p", "20%", "-c"},
           [] {
             return Texts{flat(), zipf()};
           }},
          {"long_lines", {"2", "--keys", "2K", "-p", "10%"}, one<lines_of_all_lengths>},
          {"short_lines", {"4", "--keys", "10K", "-p", "10%"}, one<one_byte_lines>},
          {"joined_fields",
           {"3", "--keys", "30K", "-p", "10%", "-d", " ", "-f", "1,3"},
           [] { return Texts{records_of(zipf())}; }},
          {"whole_lines",
           {"3", "--keys", "30K", "-p", "10%", "-d", " ", "-f", "1,3", "--line"},
           [] { return Texts{records_of(zipf())}; }},
          {"csv_with_headers",
           {"3", "--keys", "30K", "-p", "10%", "--format", "csv", "-f", "key", "--line"},
           [] {
             return Texts{csv_of(zipf(), "key,n"), "", csv_of(flat(), "key,other"), csv_of(zipf(), "key,n")};
           }},
          {"bad_lines",
           {"3", "--keys", "30K", "-p", "10%", "--format", "csv", "-f", "2", "--skip-bad"},
           [] { return Texts{csv_of(zipf(), "one field") + "x\n\"y\n"}; }},
          {"nul_separated", {"3", "--keys", "30K", "-z"}, one<with_nul>},
          {"many_files",
           {"3", "--keys", "30K", "-p", "10%"},
           [] {
             const std::string lines = zipf();
             return Texts{"no newline at the end", "", lines, "\n", lines};
           }},
          {"one_line", {"1", "--keys", "10"}, [] { return Texts{"a"}; }},
          {"nothing", {"3", "--keys", "10"}, [] { return Texts{""}; }},
          {"bounded", {"3", "--memory", "64KiB"}, one<zipf>},
          {"checked", {"3", "--keys", "30K", "-p", "10%", "--exact"}, one<zipf>}};
}

CommandResult run_in_threads(const std::string& num_threads, std::vector<std::string> arguments,
                             const std::vector<std::string>& files, const std::string& output_path = "") {
  arguments.insert(arguments.begin(), {"over", one_seed, "--threads", num_threads});
  arguments.insert(arguments.end(), files.begin(), files.end());
  return run_tally(std::move(arguments), "", output_path);
}

std::vector<std::string> written(const TemporaryDirectory& directory, const std::vector<std::string>& texts) {
  std::vector<std::string> paths;
  for (const std::string& text : texts) paths.push_back(directory.write(std::to_string(paths.size()), text));
  return paths;
}

std::string without_seconds(const std::string& remarks) {
  return std::regex_replace(remarks, std::regex(", [0-9.]+ s;"), ";");
}

class OverInThreads : public ::testing::TestWithParam<Stream> {};

TEST_P(OverInThreads, AnyNumberPrintsWhatOneDoesAndLeavesTheSameState) {
  const auto& [name, flags, texts] = GetParam();
  const TemporaryDirectory directory;
  const std::vector<std::string> files = written(directory, texts());
  const CommandResult one = run_in_threads("1", flags, files);
  for (const std::string num_threads : {"2", "5"}) {
    const CommandResult several = run_in_threads(num_threads, flags, files);
    EXPECT_TRUE(several.output == one.output);
    EXPECT_EQ(without_seconds(several.error), without_seconds(one.error));
    EXPECT_EQ(several.exit_code, one.exit_code);
  }
  EXPECT_EQ(one.exit_code, name == "nothing" ? 1 : 0);
  if (name == "checked") return;
  for (const std::string num_threads : {"1", "2"}) {
    std::vector<std::string> with_state = flags;
    with_state.insert(with_state.end(), {"-q", "--state", directory / ("state" + num_threads)});
    EXPECT_TRUE(run_in_threads(num_threads, with_state, files).output == one.output);
  }
  EXPECT_TRUE(read_file(directory / "state2") == read_file(directory / "state1"));
}

INSTANTIATE_TEST_SUITE_P(Streams, OverInThreads, ::testing::ValuesIn(streams()),
                         [](const auto& stream) { return stream.param.name; });

TEST(OverThreads, ARunGoesOnFromTheStateOfOneInAsManyOrFewerThreads) {
  const TemporaryDirectory directory;
  const std::vector<std::string> files =
      written(directory, {zipf_lines(100'000, 30'000, 0.8, 1), zipf_lines(100'000, 40'000, 0.8, 2)});
  const std::vector<std::string> flags{"3", "-q", "--keys", "2K", "-p", "10%", "-c"};
  const std::string expected = run_in_threads("1", flags, files).output;
  for (const std::string first : {"1", "2"}) {
    for (const std::string second : {"1", "2"}) {
      std::vector<std::string> with_state = flags;
      with_state.insert(with_state.end(), {"--state", directory / ("state" + first + second)});
      const std::string start = run_in_threads(first, with_state, {files[0]}).output;
      EXPECT_TRUE(start + run_in_threads(second, with_state, {files[1]}).output == expected);
    }
  }
}

TEST(OverThreads, AnErrorComesAfterWhatWasFoundBeforeIt) {
  const TemporaryDirectory directory;
  const std::string zipf = zipf_lines(200'000, 30'000, 0.9, 1);
  const std::string zipped = run_program({"gzip", "-c"}, zipf).output;
  const std::string file = directory.write("lines", zipf);
  std::string damaged = zipped;
  damaged[damaged.size() / 2] ^= 1;
  for (const std::string& other :
       {directory.write("damaged.gz", damaged),
        directory.write("cut.gz", zipped.substr(0, zipped.size() / 2)), directory.write("no.gz", "a\n")}) {
    const CommandResult one = run_in_threads("1", {"1", "-q"}, {file, other});
    for (const std::string num_threads : {"2", "4"}) {
      const CommandResult several = run_in_threads(num_threads, {"1", "-q"}, {file, other});
      EXPECT_EQ(several.exit_code, 2);
      EXPECT_THAT(several.error, HasSubstr(other));
      EXPECT_EQ(several.error, one.error);
      EXPECT_TRUE(several.output == one.output);
      EXPECT_GT(several.output.size(), 10'000U);
    }
  }
}

TEST(OverThreads, CompressedFilesAreReadAheadToo) {
  const TemporaryDirectory directory;
  const std::string zipf = zipf_lines(200'000, 30'000, 0.9, 1);
  const std::string plain = directory.write("lines", zipf);
  const std::string zipped = directory.write("lines.gz", run_program({"gzip", "-c"}, zipf).output);
  const std::vector<std::string> flags{"3", "-q", "--keys", "20K"};
  const std::string expected = run_in_threads("1", flags, {plain}).output;
  EXPECT_GT(expected.size(), 10'000U);
  for (const std::string num_threads : {"2", "3"})
    EXPECT_TRUE(run_in_threads(num_threads, flags, {zipped}).output == expected);
}

TEST(OverThreads, AFullDiskIsAnErrorAndAClosedPipeNone) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("lines", zipf_lines(300'000, 60'000, 0.5, 1));
  const CommandResult full = run_in_threads("2", {"1", "-q"}, {file}, "/dev/full");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_THAT(full.error, AllOf(HasSubstr("standard output"), HasSubstr("No space left")));
  const CommandResult closed =
      run_shell("{ \"$TALLY\" over 1 -q --threads 2 '" + file + "'; echo \"status $?\" >&2; } | head -n 1");
  EXPECT_EQ(closed.error, "status 0\n");
}

TEST(OverThreads, AnInterruptEndsAllWithASummary) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("sparse", "");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 42);  // of empty keys, for hours
  RunningCommand command({TALLY_COMMAND, "over", "3", "-z", "--json", "--keys", "100", "-t", "4", file});
  EXPECT_THAT(command.read_error_line(), HasSubstr("planned for 100"));  // it runs
  usleep(100'000);
  EXPECT_EQ(command.num_threads(), 4U);
  command.send(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exit_code, 0);
  const std::vector<std::string> lines = split_keys(result.output);
  ASSERT_EQ(lines.size(), 2U);
  const auto summary = nlohmann::json::parse(lines[1])["summary"];
  EXPECT_EQ(summary["interrupted"], true);
  EXPECT_GT(summary["num_lines"], 3);
}

TEST(OverThreads, ThereAre1To64) {
  for (const std::string number : {"0", "65", "-1", "x"}) {
    const CommandResult result = run_in_threads(number, {"3"}, {"/dev/null"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("--threads"));
    EXPECT_THAT(result.output, IsEmpty());
  }
}

/// The processor time, in seconds, of a command that runs on one processor alone.
double processor_time_on_one(const std::vector<std::string>& arguments) {
  cpu_set_t before;
  cpu_set_t one;
  CPU_ZERO(&one);
  EXPECT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const auto seconds_of_children = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](timeval time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const double start = seconds_of_children();
  EXPECT_LE(run_tally(arguments).exit_code, 1);
  const double end = seconds_of_children();
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  return end - start;
}

// On one processor, a thread that watched for what the other one does would take that time from it. Lines are long, so
// that there is little else to do; of some runs the least counts, since a busy machine only adds.
TEST(OverCommand, OfTwoThreadsOnOneProcessorNoneWatchesTheOther) {
  TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + std::string(2000, 'x') + '\n';
  const std::string file = directory.write("lines", text);
  double with_one = 1e9;
  double with_two = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto seconds = [&](const char* num_threads) {
      return processor_time_on_one({"over", "3", "-q", "--keys", "100K", "--threads", num_threads, file});
    };
    with_one = std::min(with_one, seconds("1"));
    with_two = std::min(with_two, seconds("2"));
  }
  EXPECT_LT(with_two, 2 * with_one);
  RecordProperty("with_one", std::to_string(with_one));
  RecordProperty("with_two", std::to_string(with_two));
}

}  // namespace
}  // namespace tally::test

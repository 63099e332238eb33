// What the command says when something is wrong: in words of its own flags and files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

class Messages : public ::testing::Test {
 protected:
  std::string refused(const Arguments& arguments, const std::string& input = "a\n") {
    const CommandResult result = run_tally(arguments, input);
    EXPECT_EQ(result.exit_code, 2) << arguments.front() << " " << arguments.back() << result.output;
    EXPECT_EQ(result.output, "") << arguments.front();
    return result.error;
  }
  std::string build(const std::string& name, Arguments flags = {}) {
    flags.insert(flags.begin(), {"build", "-q", "-n", "100", "-o", directory / name});
    EXPECT_EQ(run_tally(flags, "a\nb\n").exit_code, 0);
    return directory / name;
  }

  TemporaryDirectory directory;
};

TEST_F(Messages, SpeakOfFlagsAndNotOfTheLibrarysFields) {
  const std::string out = directory / "out";
  struct Case {
    Arguments arguments;
    std::string message;
  };
  const std::vector<Case> table{
      {{"plan"},
       "tally plan: give exactly two of --keys, --false-positive-rate and --memory; none is given\n"},
      {{"plan", "-n", "1M"},
       "tally plan: give exactly two of --keys, --false-positive-rate and --memory; only --keys is given; "
       "add another\n"},
      {{"plan", "-n", "1M", "-m", "1"}, "tally plan: --memory is 1; must be 8 to 2^64 - 1\n"},
      {{"plan", "-n", "1000P", "-p", "1%"}, "tally plan: --keys is 1000000000000000000; must be 1 to 2^56\n"},
      {{"plan", "-n", "1M", "-p", "1%", "--insertions", "5"},
       "tally plan: --insertions is 5; must be 1000000 to 2^56\n"},
      {{"plan", "--zipf", "1", "-n", "1K", "--insertions", "5K"},
       "tally plan: --zipf: it determines the number of keys; also give --false-positive-rate or "
       "--memory\n"},
      {{"plan", "-p", "1%", "--histogram", "/dev/null"},
       "tally plan: --histogram: it contains no keys; give one with at least one key\n"},
      {{"plan", "--epsilon", "1e-9", "-m", "1MiB"},
       "tally plan: --memory is 1048576; must be larger: no sketch that meets the requirements fits\n"},
      {{"build", "-o", out, "--kind", "dleft", "-n", "1M", "-m", "10"},
       "tally build: --memory is 10; must be larger: there is no room for the keys\n"},
      {{"build", "-o", out, "--kind", "counting-bloom", "-n", "9", "--counter-bits", "9"},
       "tally build: --counter-bits is 9; must be 1 to 8, 16, 32 or 64\n"},
      {{"build", "-o", out, "--kind", "counting-bloom", "-n", "9", "--counter-bits", "2", "-t", "4"},
       "tally build: --threshold is 4; must be 1 to 3 with --counter-bits 2; use wider counters\n"},
      {{"build", "-o", out, "--scheme", "partitioned", "--num-positions", "5", "-k", "9"},
       "tally build: --num-positions is 5; must be 9 for the scheme 'partitioned' with --num-hashes 9\n"},
      {{"build", "-o", out, "--kind", "count-min", "--counter-bits", "9"},
       "tally build: --counter-bits is 9; must be 8, 16, 32 or 64\n"},
      {{"build", "-o", out, "-n", "9", "--kind", "dleft", "--scheme", "triple"},
       "tally build: --scheme: 'triple' is not a scheme of a dleft filter; must be one of rotation, "
       "multiplier\n"},
      {{"top", "--share", "1e-12"},
       "tally top: --share: needs 4294967296 candidates; the maximum is 1073741824; give a larger value\n"},
      {{"theory", "bloom-false-positive-rate", "--m", "0", "--k", "4", "--n", "4"},
       "tally theory: --m is 0; must be at least 1\n"},
  };
  for (const Case& it : table) EXPECT_EQ(refused(it.arguments), it.message);
  EXPECT_EQ(directory.num_files(), 0U);
  // If a plan leaves a structure out, its message has the flags, too.
  const CommandResult plan = run_tally({"plan", "-n", "1M", "-m", "10"});
  EXPECT_THAT(plan.output, AllOf(HasSubstr("is left out: --memory is 10"), Not(HasSubstr("plan_"))));
}

TEST_F(Messages, OfAShapeInAFileNameTheFile) {
  const std::string shape = directory.write(
      "shape", R"({"kind": "bloom", "scheme": "partitioned", "num_positions": 5, "num_hashes": 9})");
  EXPECT_THAT(refused({"build", "-o", directory / "out", "--shape", shape}),
              HasSubstr("--shape: '" + shape + "': num_bits is 5; must be 9"));
  const std::string none = directory.write("none", R"({"kind": "bloom"})");
  EXPECT_THAT(refused({"build", "-o", directory / "out", "--shape", none}),
              HasSubstr("--shape: '" + none + "': 'scheme' is missing"));
}

TEST_F(Messages, NameTheFilesThatDoNotFitTheCommandOrEachOther) {
  const std::string bloom = build("bloom_filter");  // called like a function of the library
  const std::string other = build("other", {"--seed", "5"});
  const std::string smaller = build("smaller", {"-p", "30%"});
  const std::string counting = build("counting", {"--kind", "counting-bloom"});
  const Arguments merge{"merge", "-o", directory / "out", bloom};
  const auto merged_with = [&](const std::string& path) {
    Arguments arguments = merge;
    arguments.push_back(path);
    return refused(arguments);
  };
  const std::string advice = "; 'tally build --like' makes filters that merge\n";
  EXPECT_EQ(merged_with(counting), "tally merge: cannot merge: kind is bloom in '" + bloom +
                                       "' and counting-bloom in '" + counting + "'" + advice);
  EXPECT_EQ(merged_with(other), "tally merge: cannot merge: seed is 499850701945 in '" + bloom +
                                    "' and 5 in '" + other + "'" + advice);
  EXPECT_THAT(merged_with(smaller), HasSubstr("cannot merge: number of bits is "));
  EXPECT_EQ(refused({"remove", bloom}),
            "tally remove: '" + bloom +
                "' is a bloom filter and cannot remove keys; use a "
                "counting-bloom, dleft, compact-dleft or blocked-counting-bloom filter\n");
  EXPECT_EQ(refused({"halve", counting}),
            "tally halve: '" + counting +
                "' is a counting-bloom filter and cannot halve counts; use a count-min filter\n");
  EXPECT_THAT(refused({"count", bloom}), HasSubstr("'" + bloom + "' is a bloom filter and cannot count; "));
  EXPECT_THAT(refused({"query", "--at-least", "3", bloom}),
              HasSubstr("'" + bloom + "' is a bloom filter and "));

  const std::string secret = directory.write("secret", std::string(32, 'x'));
  const std::string keyed = build("keyed_filter", {"--key-file", secret});
  EXPECT_THAT(refused({"info", keyed}),
              AllOf(HasSubstr(keyed + ": "), HasSubstr("give that key with --key-file\n")));
}

TEST_F(Messages, SayThatAFileIsNoTallyFileWhateverItsLength) {
  const std::string filter = build("filter");
  const std::string bytes = read_file(filter);
  for (const std::string& text : {std::string("hello\n"), std::string(5000, 'x')}) {
    const std::string path = directory.write("text", text);
    for (const Arguments& arguments :
         std::vector<Arguments>{{"info", path},
                                {"query", path},
                                {"add", path},
                                {"diff", path, "-o", directory / "out"},
                                {"watch", path},
                                {"build", "--like", path, "-o", directory / "out"},
                                {"verify", "--file", path}}) {
      EXPECT_THAT(refused(arguments), HasSubstr(path + ": this is not a tally file: ")) << arguments[0];
    }
  }
  const std::string empty = directory.write("empty", "");
  EXPECT_THAT(refused({"info", empty}), HasSubstr(empty + ": it is empty"));
  const std::string cut = directory.write("cut", bytes.substr(0, 64));
  EXPECT_THAT(refused({"info", cut}), HasSubstr(cut + ": length is 64 bytes; must be at least 128"));
  EXPECT_THAT(refused({"over", "3", "--state", directory.write("state", "hello\n")}),
              StartsWith("tally over: " + directory / "state" + " as a state: "));
  EXPECT_THAT(refused({"patch", directory / "copy"}, "hello\n"),
              HasSubstr("standard input as a summary message: "));
}

TEST_F(Messages, RefuseAnEmptyValueByTheNameOfItsFlag) {
  const std::vector<std::pair<Arguments, std::string>> table{
      {{"over", "1", "-f", ""}, "tally over: --fields: the value is empty; give a LIST or leave it out\n"},
      {{"over", "1", "--fields="}, "tally over: --fields: the value is empty; give a LIST or leave it out\n"},
      {{"over", "1", "-d", ""}, "tally over: --delimiter: the value is empty; give a TEXT or leave it out\n"},
      {{"over", "1", "--sum", ""}, "tally over: --sum: the value is empty; give a FIELD or leave it out\n"},
      {{"over", "1", "--window", "1s", "--time", ""},
       "tally over: --time: the value is empty; give a LIST or leave it out\n"},
      {{"over", "1", "--state", ""},
       "tally over: --state: the value is empty; give a FILE or leave it out\n"},
      {{"over", "1", "--key-file", ""},
       "tally over: --key-file: the value is empty; give a FILE or leave it out\n"},
      {{"over", "1", ""}, "tally over: FILE: the value is empty; give one or leave it out\n"},
      {{"kmers", "-k", "3", "-o", ""},
       "tally kmers: --output: the value is empty; give a FILE or leave it out\n"},
      {{"squid", "build", "-o", ""},
       "tally squid build: --output: the value is empty; give a FILE or leave it out\n"},
  };
  for (const auto& [arguments, message] : table) EXPECT_THAT(refused(arguments), StartsWith(message));
  EXPECT_THAT(refused({"over", "1", "--window", ""}), StartsWith("tally over: --window: '' is not a time"));
}

TEST_F(Messages, HelpIsACommandToo) {
  EXPECT_EQ(run_tally({"help"}).output, run_tally({"--help"}).output);
  const CommandResult over = run_tally({"help", "over"});
  EXPECT_EQ(over.exit_code, 0);
  EXPECT_EQ(over.output, run_tally({"over", "--help"}).output);
  EXPECT_EQ(run_tally({"help", "squid", "build"}).output, run_tally({"squid", "build", "--help"}).output);
  EXPECT_THAT(refused({"help", "qurey"}), StartsWith("tally: no command 'qurey'; did you mean 'query'?\n"));
  EXPECT_EQ(run_tally({"-V"}).output, run_tally({"--version"}).output);
}

TEST_F(Messages, SuggestTheNearestNamesOrListThem) {
  EXPECT_THAT(
      refused({"squid", "nosuch"}),
      StartsWith("tally squid: no command 'nosuch'; the commands are: build, query, info, fetch, serve\n"));
  EXPECT_THAT(refused({"squid", "biuld", "--capacity", "3"}),
              StartsWith("tally squid: no command 'biuld'; did you mean 'build'?\n"));
  EXPECT_THAT(
      refused({"squid"}),
      StartsWith("tally squid: no command given; the commands are: build, query, info, fetch, serve\n"));
  EXPECT_THAT(refused({"buidl", "-o", "x"}),
              StartsWith("tally: no command 'buidl'; did you mean 'build'?\n"));
  EXPECT_THAT(refused({"theory", "kappa-str"}),
              StartsWith("tally theory: there is no formula 'kappa-str'; did you mean 'kappa-star'?\n"));
  EXPECT_THAT(refused({"theory", "false-positive-rate"}),
              HasSubstr("; did you mean 'bloom-false-positive-rate', "));
  EXPECT_THAT(refused({"theory", "xyzzy"}),
              StartsWith("tally theory: there is no formula 'xyzzy'; 'tally theory' lists them\n"));
  EXPECT_THAT(refused({"over", "-F", "3"}),
              StartsWith("tally over: unknown option '-F'; did you mean '-f'?\nSee 'tally over --help'.\n"));
  EXPECT_THAT(refused({"over", "3", "-X"}),
              StartsWith("tally over: unknown option '-X'\nSee 'tally over --help'.\n"));
  EXPECT_THAT(refused({"-F"}), StartsWith("tally: unknown option '-F'\nSee 'tally --help'.\n"));
  EXPECT_THAT(refused({"over", "3", "--threds", "1"}), HasSubstr("did you mean '--threads'?"));
  EXPECT_THAT(refused({"over"}), HasSubstr("\nUsage: tally over [OPTION]... THRESHOLD"));
}

TEST_F(Messages, VerifyRefusesFlagsThatDoNothingThere) {
  const Arguments sketch{"verify", "-n",      "100", "--kind",   "count-min", "--width",
                         "31",     "--depth", "2",   "--trials", "2"};
  Arguments with_bits = sketch;
  with_bits.insert(with_bits.end(), {"--counter-bits", "9"});
  EXPECT_THAT(
      refused(with_bits),
      StartsWith("tally verify: --counter-bits: it has no effect on a count-min filter in this command; "));
  EXPECT_THAT(
      refused({"verify", "-n", "100", "-p", "1%", "--counter-bits", "3"}),
      HasSubstr("--counter-bits: it has no effect on a bloom filter in this command; leave it out, or use "
                "--kind counting-bloom"));
  EXPECT_THAT(refused({"verify", "-n", "100", "-p", "1%", "--conservative"}),
              HasSubstr("--conservative: it has no effect on a bloom filter"));
  const std::string help = run_tally({"verify", "--help"}).output;
  EXPECT_THAT(help, Not(HasSubstr("--failure-probability")));
  EXPECT_THAT(run_tally({"build", "--help"}).output, HasSubstr("--failure-probability is"));
}

TEST_F(Messages, APlanThatLetsMostKeysPassIsWarnedOf) {
  const std::string warning =
      "warning: 1.00 MiB is too little for 1.00 G keys: the false positive rate will be 100%; a rate of 1% "
      "takes ";
  const std::string out = directory / "out";
  for (const std::string kind :
       {"bloom", "blocked-bloom", "counting-bloom", "threshold", "blocked-counting-bloom"}) {
    std::vector<std::string> line{"build", "-q", "--force", "--kind", kind, "-m",
                                  "1MiB",  "-n", "1e9",     "-o",     out};
    if (kind == "threshold") line.insert(line.end(), {"-t", "2"});
    const CommandResult built = run_tally(line, "a\n");
    EXPECT_EQ(built.exit_code, 0);
    EXPECT_THAT(built.error, HasSubstr("tally build: " + warning)) << kind;
  }
  const CommandResult bloom =
      run_tally({"build", "-q", "--force", "-m", "1MiB", "-n", "1e9", "-o", out}, "a\n");
  EXPECT_THAT(bloom.error, HasSubstr("; a rate of 1% takes 1.12 GiB\n"));
  const CommandResult planned = run_tally({"plan", "-m", "1MiB", "-n", "1e9"});
  EXPECT_EQ(planned.exit_code, 0);
  EXPECT_THAT(planned.error, HasSubstr("tally plan: " + warning + "1.1"));
  EXPECT_THAT(run_tally({"plan", "-m", "1MiB", "-n", "1e9", "--json"}).error, HasSubstr(warning));
  EXPECT_THAT(run_tally({"uniq", "-q", "-a", "-m", "1MiB", "-n", "1e9"}, "a\n").error,
              HasSubstr("tally uniq: " + warning));
  EXPECT_EQ(run_tally({"build", "-q", "--force", "-m", "2MiB", "-n", "1e6", "-o", out}, "a\n").error, "");
  EXPECT_EQ(run_tally({"plan", "-m", "2MiB", "-n", "1e6"}).error, "");
}

TEST_F(Messages, ADeltaIsComparedWithAFullCopy) {
  const Arguments shape{"--num-positions", "64", "-k", "1"};
  Arguments first{"build", "-q", "-o", directory / "old"};
  Arguments second{"build", "-q", "-o", directory / "new"};
  first.insert(first.end(), shape.begin(), shape.end());
  second.insert(second.end(), shape.begin(), shape.end());
  ASSERT_EQ(run_tally(first, "a\n").exit_code, 0);
  ASSERT_EQ(run_tally(second, "a\nb\n").exit_code, 0);
  const CommandResult diff =
      run_tally({"diff", directory / "old", directory / "new", "-o", directory / "delta"});
  EXPECT_EQ(diff.exit_code, 0);
  EXPECT_THAT(diff.error,
              MatchesRegex("tally diff: 1 of 64 bits changed: [0-9]+ bytes, [0-9.]+% of the [0-9]+ bytes "
                           "of a full copy\n"));
  const double percent = std::stod(diff.error.substr(diff.error.find("bytes, ") + 7));
  EXPECT_LE(percent, 100);
  EXPECT_GT(percent, 90);
}

TEST_F(Messages, ACountOfAStreamIsSaidToBeThatOfTheMoment) {
  const std::string lines = "a\na\na\na\na\na\n";
  const CommandResult over = run_tally({"over", "3", "-c"}, lines);
  EXPECT_EQ(over.output, "3\ta\n");
  EXPECT_THAT(over.error,
              HasSubstr("each count is the count when the key was printed; for counts of the whole input, "
                        "use 'tally top', or 'tally build --kind count-min' and 'tally count'"));
  EXPECT_THAT(run_tally({"over", "3"}, lines).error, Not(HasSubstr("when the key was printed")));
  // What it names tells the truth.
  EXPECT_EQ(run_tally({"top", "-q"}, lines).output, "6\ta\n");
  const std::string keys = directory.write("keys", lines);
  ASSERT_EQ(run_tally({"build", "-q", "--kind", "count-min", "-o", directory / "sketch", keys}).exit_code, 0);
  EXPECT_EQ(run_tally({"count", directory / "sketch"}, "a\n").output, "6\ta\n");

  const std::string reads =
      directory.write("reads.fa", ">1\nACGTTGCAACT\n>2\nACGTTGCAACT\n>3\nACGTTGCAACT\n");
  const CommandResult kmers = run_tally({"kmers", "-k", "11", "-c", reads});
  EXPECT_EQ(kmers.output, "2\tACGTTGCAACT\n");
  EXPECT_THAT(kmers.error,
              HasSubstr("each count is the count when the k-mer was printed; for counts in all reads, use "));
  ASSERT_EQ(run_tally({"kmers", "-q", "-k", "11", "-L", "255", "-o", directory / "counts", reads}).exit_code,
            0);
  EXPECT_EQ(run_tally({"count", directory / "counts"}, "ACGTTGCAACT\n").output, "3\tACGTTGCAACT\n");
}

class BytesOnATerminal : public Messages {
 protected:
  void SetUp() override {
    if (run_program({"sh", "-c", "script -qec true /dev/null && echo yes"}).output.find("yes") ==
        std::string::npos)
      GTEST_SKIP() << "no script(1) here";
  }
  std::string screen_of(const std::string& command) const {
    return RunningCommand({"script", "-qec", "cd '" + (directory / "") + "'; '" TALLY_COMMAND "' " + command,
                           "/dev/null"})
        .wait()
        .output;
  }
};

TEST_F(BytesOnATerminal, AreRefusedUnlessForced) {
  build("filter");
  build("other");
  directory.write("keys", "a\nb\n");
  directory.write("reads.fa", ">1\nACGT\n");
  for (const std::string command : {"diff filter", "build -n 9 -o - keys", "merge -o - filter other",
                                    "kmers -k 3 -o - reads.fa", "squid build -o - keys"}) {
    const std::string refused = screen_of(command + "; echo status $?");
    EXPECT_THAT(refused, AllOf(HasSubstr("standard output is a terminal, and the output is binary; "),
                               HasSubstr("or give --force"), HasSubstr("status 2")))
        << command;
    EXPECT_THAT(screen_of(command + " -q --force; echo status $?"), HasSubstr("status 0")) << command;
    EXPECT_THAT(screen_of(command + " -q | wc -c"), Not(HasSubstr("terminal"))) << command;
  }
  EXPECT_THAT(screen_of("watch filter & sleep 1; kill $!; wait $!; echo status $?"),
              AllOf(HasSubstr("send it through a pipe to 'tally patch'"), HasSubstr("status 2")));
}

}  // namespace
}  // namespace tally::test

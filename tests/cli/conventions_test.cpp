#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command_runner.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Refusal {
  std::string flag;
  std::vector<std::string> values;
};

TEST(Flags, ABadValueIsRefusedByNameWithItselfAndStatus2) {
  const std::vector<std::string> not_counts{
      "nan",  "inf",  "-inf", "0", "-1",   "1e30",     "18446744073709551616", "1.5", "ten", "10Q", "10MB",
      "10 M", "0x10", "1e",   "",  "1e-3", "20000000P"};
  const std::vector<std::string> not_sizes{"nan",  "inf", "0",      "-1", "-1MiB",  "1e30", "17179869184GiB",
                                           "64XB", "MiB", "64 MiB", "",   "64MiBB", "1.5"};
  const std::vector<std::string> not_rates{"nan", "inf", "0",   "1", "-0.1", "100%",
                                           "0%",  "2",   "abc", "",  "1%%",  "1e999"};
  const std::vector<Refusal> table{
      {"--keys", not_counts},
      {"--num-positions", not_counts},
      {"--num-hashes", not_counts},
      {"--counter-bits", not_counts},
      {"--threshold", not_counts},
      {"--memory", not_sizes},
      {"--false-positive-rate", not_rates},
      {"--seed", {"nan", "-1", "1.5", "18446744073709551616", "0x", "abc", "", "1e6"}},
      {"--kind", {"", "blom", "0"}},
      {"--scheme", {"", "tripple", "blocked"}},
      {"--update", {"", "0", "fast"}},
  };
  TemporaryDirectory directory;
  for (const Refusal& refusal : table) {
    for (const std::string& value : refusal.values) {
      const CommandResult result =
          run_tally({"build", "-o", directory / "x", refusal.flag + "=" + value}, "a\n");
      EXPECT_EQ(result.exit_code, 2) << refusal.flag << " " << value;
      EXPECT_THAT(result.error, AllOf(HasSubstr("tally build: " + refusal.flag), HasSubstr(value)));
    }
  }
  EXPECT_EQ(directory.num_files(), 0U);
}

TEST(Flags, OutOfRangeShapesAreRefused) {
  TemporaryDirectory directory;
  const std::vector<std::vector<std::string>> table{
      {"--num-positions", "64", "--num-hashes", "1025"},
      {"--num-positions", "1000P", "--num-hashes", "3"},
      {"--num-positions", "64"},
      {"--num-positions", "64", "--num-hashes", "3", "--keys", "5"},
      {"--kind", "counting-bloom", "--num-positions", "64", "--num-hashes", "3", "--counter-bits", "9"},
      {"--kind", "counting-bloom", "--num-positions", "64", "--num-hashes", "3", "--counter-bits", "2",
       "--theta", "4"},
      {"--kind", "threshold", "--num-positions", "64", "--num-hashes", "3", "--theta", "4294967296"},
      {"--kind", "bloom", "--threshold", "3", "--keys", "5"},
      {"--kind", "bloom", "--counter-bits", "3", "--keys", "5"},
      {"--kind", "bloom", "--update", "plain", "--keys", "5"},
      {"--kind", "blocked-bloom", "--scheme", "standard", "--keys", "5"},
      {"--keys", "5", "--memory", "1MiB", "-p", "1%"},
      {"--keys", "1000P"},
      {"--keys", "1M", "--memory", "1"},
      {"--num-positions", "50000T", "--num-hashes", "3"},
      {"--like", "/nonexistent"},
      {"--shape", "/nonexistent"},
      {"--shape", directory.write("junk", "{")},
      {"--shape", directory.write("number", "5")},
      {"--shape", directory.write("object", R"({"kind": "bloom"})")},
      {"--shape", directory.write("range", R"({"kind": "bloom", "scheme": "standard", "num_positions": 64,
                                               "num_hashes": -3})")},
  };
  for (std::vector<std::string> flags : table) {
    flags.insert(flags.begin(), {"build", "-o", directory / "x"});
    const CommandResult result = run_tally(flags, "a\n");
    EXPECT_EQ(result.exit_code, 2) << flags[3] << " " << flags.back();
    EXPECT_THAT(result.error, HasSubstr("tally build: ")) << flags.back();
  }
  EXPECT_EQ(directory.num_files(), 4U);
}

TEST(Flags, UnitsMeanWhatTheySay) {
  TemporaryDirectory directory;
  const auto bits = [&](const std::string& positions) {
    const std::string path = directory / "x";
    EXPECT_EQ(run_tally({"build", "-q", "--force", "-o", path, "--scheme", "standard", "-k", "3",
                         "--num-positions", positions},
                        "a\n")
                  .exit_code,
              0);
    const std::string text = run_tally({"info", path}).output;
    return std::stoull(text.substr(text.find("bits ") + 5));
  };
  EXPECT_EQ(bits("1234"), 1234U);
  EXPECT_EQ(bits("3K"), 3000U);
  EXPECT_EQ(bits("3k"), 3000U);
  EXPECT_EQ(bits("3Ki"), 3072U);
  EXPECT_EQ(bits("1.5M"), 1'500'000U);
  EXPECT_EQ(bits("1e6"), 1'000'000U);
}

TEST(Commands, UnknownWordsGetASuggestion) {
  const CommandResult command = run_tally({"qurey"});
  EXPECT_EQ(command.exit_code, 2);
  EXPECT_THAT(command.error, AllOf(HasSubstr("no command 'qurey'"), HasSubstr("did you mean 'query'?")));
  const CommandResult option = run_tally({"query", "f", "--invret"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.error, AllOf(HasSubstr("unknown option '--invret'"), HasSubstr("'--invert'")));
  EXPECT_EQ(run_tally({}).exit_code, 2);
  EXPECT_EQ(run_tally({"build"}, "a\n").exit_code, 2);
}

// A filter of the keys that `bytes` holds, and what a query for them prints.
class Keys : public ::testing::Test {
 protected:
  std::string round_trip(const std::string& bytes, std::vector<std::string> flags = {}) {
    const std::string path = directory / "filter";
    std::vector<std::string> build{"build", "-q", "--force", "-n", "100", "-p", "1e-9", "-o", path};
    build.insert(build.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_tally(build, bytes).exit_code, 0);
    std::vector<std::string> query{"query", path};
    query.insert(query.end(), flags.begin(), flags.end());
    return run_tally(query, bytes).output;
  }
  bool has(const std::string& key, const std::string& flag = "-q") {
    return run_tally({"query", flag, directory / "filter"}, key).exit_code == 0;
  }

  TemporaryDirectory directory;
};

TEST_F(Keys, AreBytesWithoutTheirSeparatorOnly) {
  EXPECT_EQ(round_trip("a\r\nb\n"), "a\r\nb\n");
  EXPECT_TRUE(has("a\r\n"));
  EXPECT_FALSE(has("a\n"));
  EXPECT_EQ(round_trip("\n"), "\n");  // the empty key
  EXPECT_TRUE(has("\n"));
  EXPECT_FALSE(has(" \n"));
  EXPECT_EQ(round_trip("a\nlast"), "a\nlast\n");
  EXPECT_TRUE(has("last\n"));
}

TEST_F(Keys, MayBeBinaryBetweenNuls) {
  const std::string bytes("a\nb\0\xff\xfe\0\0", 7);
  EXPECT_EQ(round_trip(bytes, {"-z"}), bytes);
  EXPECT_TRUE(has(std::string("a\nb\0", 4), "-z"));
  EXPECT_FALSE(has(std::string("a\0", 2), "-z"));
}

TEST_F(Keys, MayBeHundredMegabytesLong) {
  std::string line(100'000'000, 'x');
  line += "\nshort\n";
  EXPECT_EQ(round_trip(line).size(), line.size());
  EXPECT_TRUE(has("short\n"));
  EXPECT_FALSE(has("x\n"));
}

TEST_F(Keys, ComeFromCompressedFilesInSeveralParts) {
  const std::string d = directory / "";
  ASSERT_EQ(
      run_shell("cd " + d + "; (seq 1 50 | gzip; seq 51 100 | gzip) > k.gz; gzip -dc k.gz > k").exit_code, 0);
  EXPECT_EQ(run_tally({"build", "-q", "-p", "1e-9", "-o", directory / "f", directory / "k.gz"}).exit_code, 0);
  EXPECT_EQ(run_tally({"query", "-c", directory / "f", directory / "k"}).output, "100\n");
  ASSERT_EQ(run_shell("cd " + d + "; head -c 60 k.gz > cut.gz").exit_code, 0);
  EXPECT_EQ(run_tally({"query", directory / "f", directory / "cut.gz"}).exit_code, 2);
  if (run_shell("command -v zstd").exit_code != 0) return;
  ASSERT_EQ(run_shell("cd " + d + "; (seq 1 50 | zstd -q; seq 51 100 | zstd -q) > k.zst").exit_code, 0);
  EXPECT_EQ(run_tally({"query", "-c", directory / "f", directory / "k.zst"}).output, "100\n");
  ASSERT_EQ(run_shell("cd " + d + "; head -c 60 k.zst > cut.zst").exit_code, 0);
  EXPECT_EQ(run_tally({"query", directory / "f", directory / "cut.zst"}).exit_code, 2);
}

TEST_F(Keys, InputThatCannotBeReadIsNamed) {
  round_trip("a\n");
  for (const std::string& path : {std::string("/nonexistent"), directory / "."}) {
    const CommandResult result = run_tally({"query", directory / "filter", path});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr(path));
  }
}

TEST(StandardOutput, AClosedPipeEndsTheCommandQuietly) {
  TemporaryDirectory directory;
  const CommandResult result = run_shell("cd " + (directory / "") +
                                         "; seq 1 300000 > k; $TALLY build -q -o f k; ($TALLY query f k; "
                                         "echo $? > status) | head -n 1; cat status");
  EXPECT_EQ(result.output, "1\n0\n");
  EXPECT_THAT(result.error, IsEmpty());
}

TEST(StandardOutput, AFullDiskIsAnError) {
  TemporaryDirectory directory;
  const std::string path = directory / "f";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "9", "-o", path}, "a\n").exit_code, 0);
  const std::vector<std::vector<std::string>> table{
      {"--help"},      {"--version"},         {"--generate", "man"},   {"info", path},
      {"query", path}, {"query", "-c", path}, {"info", "--json", path}};
  for (const auto& arguments : table) {
    const CommandResult result = run_tally(arguments, "a\n", "/dev/full");
    EXPECT_EQ(result.exit_code, 2) << arguments.front();
    EXPECT_THAT(result.error, HasSubstr("standard output")) << arguments.front();
  }
  EXPECT_EQ(run_tally({"build", "-q", "-n", "9", "-o", "/dev/full"}, "a\n").exit_code, 2);
}

}  // namespace
}  // namespace tally::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "kmer_oracle.hpp"

// `tally kmers --counts` and `--histogram`, beside exact counts.

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

CommandResult count_kmers_with(std::size_t length, Texts flags, const std::string& input = reads_fastq()) {
  flags.insert(flags.begin(), {"kmers", "-q", "-k", std::to_string(length)});
  return run_tally(std::move(flags), input);
}

/// "count\tk-mer" lines.
std::map<std::string, std::uint64_t> counts_in(const std::string& output) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& line : split_keys(output)) {
    const std::size_t tab = line.find('\t');
    EXPECT_TRUE(counts.emplace(line.substr(tab + 1), std::stoull(line.substr(0, tab))).second) << line;
  }
  return counts;
}

TEST(KmerCounts, AreExactAndSortedIfEveryKmerIsCounted) {
  for (const std::size_t length : {1, 4, 15, 31, 32, 33, 64, 65, 96, 97}) {
    const std::string expected = sorted_lines(count_exactly(kmers_of_all(reads(), length)), 1);
    for (const char* threads : {"1", "3"})
      EXPECT_EQ(count_kmers_with(length, {"--counts", "-L", "1", "-t", threads}).output, expected) << length;
  }
}

TEST(KmerCounts, AreExactWithoutFalseReports) {
  for (const std::size_t length : {15, 31, 41}) {
    const Counts counts = count_exactly(kmers_of_all(reads(), length));
    for (const std::uint64_t least : {2, 3, 10}) {
      const CommandResult result = count_kmers_with(
          length, {"--counts", one_seed, "-s", "50K", "-p", "1e-12", "-L", std::to_string(least)});
      EXPECT_EQ(result.output, sorted_lines(counts, least)) << length << ' ' << least;
    }
  }
}

TEST(KmerCounts, AreNeverTooLowAndTooHighByAtMostTheLowerCountMinusOne) {
  for (const std::size_t length : {31, 70}) {
    const Counts exact = count_exactly(kmers_of_all(reads(), length));
    for (const std::uint64_t least : {2, 5}) {
      for (const char* threads : {"1", "4"}) {
        // Far too small a filter, so that most k-mers are reported too early.
        const CommandResult result = count_kmers_with(length, {"--counts", one_seed, "-s", "3K", "-p", "0.3",
                                                               "-L", std::to_string(least), "-t", threads});
        const auto counts = counts_in(result.output);
        std::uint64_t num_too_high = 0;
        for (const auto& [kmer, count] : exact) {
          const auto found = counts.find(kmer);
          if (found == counts.end()) {
            ASSERT_LT(count, least);
            continue;
          }
          ASSERT_GE(found->second, count);
          ASSERT_LE(found->second, count + least - 1);
          num_too_high += found->second > count;
        }
        EXPECT_GT(num_too_high, 1000u);
        EXPECT_LE(counts.size(), exact.size());
      }
    }
  }
}

TEST(KmerCounts, AHistogramHasTheNumberOfKmersOfEachCount) {
  const TemporaryDirectory directory;
  const Counts counts = count_exactly(kmers_of_all(reads(), 21));
  std::map<std::uint64_t, std::uint64_t> histogram;
  for (const auto& [kmer, count] : counts) ++histogram[count];
  std::string expected;
  for (const auto& [count, number] : histogram)
    expected += std::to_string(count) + ' ' + std::to_string(number) + '\n';
  EXPECT_EQ(count_kmers_with(21, {"--histogram", "-", "-L", "1"}).output, expected);
  const std::string path = directory / "histogram";
  EXPECT_EQ(count_kmers_with(21, {"--histogram", path, "--counts", "-L", "1", "-t", "2"}).output,
            sorted_lines(counts, 1));
  EXPECT_EQ(read_file(path), expected);
  EXPECT_THAT(count_kmers_with(21, {"--histogram", path, "-L", "1"}).error, HasSubstr("--force"));
  EXPECT_EQ(
      count_kmers_with(21, {"--histogram", path, "--force", "-L", "3", "-s", "50K", "-p", "1e-12"}).output,
      "");
  EXPECT_EQ(read_file(path), expected.substr(expected.find("\n3 ") + 1));
}

TEST(KmerCounts, ALongRunOfOneBaseIsInTheLastLineOfTheHistogram) {
  const std::string input = ">a\n" + std::string(60'000, 'A') + "\n>b\n" + std::string(10'003, 'C') + "\n";
  EXPECT_EQ(count_kmers_with(4, {"--counts", "-L", "1"}, input).output, "59997\tAAAA\n10000\tCCCC\n");
  EXPECT_EQ(count_kmers_with(4, {"--histogram", "-", "-L", "1"}, input).output, "10000 1\n10001 1\n");
}

TEST(KmerCounts, EveryFormatHasTheSameKmers) {
  const std::string input = ">a\nACGTTGCAACT\n>b\nACGTTGCAACT\n";
  const auto dump = [&](const std::string& format) {
    return count_kmers_with(9, {"--counts", "-L", "1", "--dump-format", format}, input).output;
  };
  EXPECT_EQ(dump("jellyfish"), ">2\nACGTTGCAA\n>2\nAGTTGCAAC\n>2\nCGTTGCAAC\n");
  EXPECT_EQ(dump("jellyfish-column"), "ACGTTGCAA 2\nAGTTGCAAC 2\nCGTTGCAAC 2\n");
  EXPECT_EQ(dump("kmc"), "ACGTTGCAA\t2\nAGTTGCAAC\t2\nCGTTGCAAC\t2\n");
  const CommandResult json =
      count_kmers_with(9, {"--counts", "--histogram", "/dev/null", "--force", "-L", "1", "--json"}, input);
  EXPECT_THAT(json.output, StartsWith(R"({"key":"ACGTTGCAA","count":2})"
                                      "\n"));
  const CommandResult histogram = count_kmers_with(9, {"--histogram", "-", "-L", "1", "--json"}, input);
  EXPECT_THAT(histogram.output, StartsWith(R"({"count":2,"num_kmers":3})"
                                           "\n"
                                           R"({"summary":)"));
}

TEST(KmerCounts, TheSummaryEstimatesTheKmersThatAreNotReported) {
  const Counts counts = count_exactly(kmers_of_all(reads(), 31));
  const CommandResult result =
      count_kmers_with(31, {"--histogram", "/dev/null", "--force", "--json", "-s", "50K", "-p", "0.001"});
  const auto summary = nlohmann::json::parse(result.output)["summary"];
  const auto once = std::count_if(counts.begin(), counts.end(), [](const auto& c) { return c.second == 1; });
  EXPECT_NEAR(summary["num_kmers_below_lower_count_estimate"].get<double>(), static_cast<double>(once),
              0.03 * static_cast<double>(counts.size()));
  EXPECT_EQ(summary["counts_too_high_by_at_most"], 1);
  EXPECT_EQ(summary["num_occurrences_not_counted"], 0);
  EXPECT_EQ(summary["num_saturated_counts"], 0);
}

TEST(KmerCounts, WithTooLittleMemoryWhatIsNotCountedIsCountedAsThat) {
  for (const std::size_t length : {31, 50, 80}) {
    const Counts exact = count_exactly(kmers_of_all(reads(), length));
    for (const std::string least : {"1", "2"}) {
      for (const char* threads : {"1", "3"}) {
        const CommandResult result = count_kmers_with(
            length, {"--counts", "--json", one_seed, "--memory", "100K", "-L", least, "-t", threads});
        EXPECT_THAT(result.error,
                    HasSubstr("did not fit in the table and are not counted; give more --memory"));
        std::uint64_t sum = 0;
        std::uint64_t num_kmers = 0;
        nlohmann::json summary;
        for (const std::string& line : split_keys(result.output)) {
          const auto json = nlohmann::json::parse(line);
          if (json.contains("summary")) {
            summary = json["summary"];
            continue;
          }
          const std::uint64_t count = json["count"];
          ASSERT_GE(count, exact.at(json["key"]));
          ASSERT_LE(count, exact.at(json["key"]) + std::stoull(least) - 1);
          sum += exact.at(json["key"]);
          ++num_kmers;
        }
        EXPECT_LE(summary["memory_bytes"], 100'000u + 4096u);
        EXPECT_GT(num_kmers, 300u);
        const std::uint64_t num_left_out = summary["num_occurrences_not_counted"];
        if (least == "1") {
          EXPECT_EQ(sum + num_left_out, summary["num_kmers"]);
          EXPECT_NEAR(summary["num_kmers_not_counted_estimate"].get<double>(),
                      static_cast<double>(exact.size() - num_kmers), 0.1 * static_cast<double>(exact.size()));
        } else {
          EXPECT_GT(num_left_out, 0u);
        }
      }
    }
  }
}

TEST(KmerCounts, PairsOfFilesAndFastaPackedByXzAreOneInput) {
  const TemporaryDirectory directory;
  std::string fasta;
  for (const std::string& read : reads()) fasta += ">r\n" + read + '\n';
  const std::string half =
      directory.write("a_1.fa", fasta.substr(0, fasta.find("\n>r", fasta.size() / 2) + 1));
  const std::string rest = directory.write("a_2.fa", fasta.substr(fasta.find("\n>r", fasta.size() / 2) + 1));
  ASSERT_EQ(run_shell("xz " + half + " && gzip " + rest).exit_code, 0);
  EXPECT_EQ(count_kmers_with(21, {"--counts", "-L", "1", half + ".xz", rest + ".gz"}).output,
            sorted_lines(count_exactly(kmers_of_all(reads(), 21)), 1));
}

TEST(KmerCounts, RefusesOptionsThatContradict) {
  const std::vector<std::pair<Texts, std::string>> table{
      {{"--counts", "-o", "x"}, "--counts and --output are both given"},
      {{"--histogram", "x", "-o", "y"}, "--histogram and --output are both given"},
      {{"--counts", "-c"}, "leave --with-count out"},
      {{"--counts", "--histogram", "-"}, "give a file for --histogram"},
      {{"--dump-format", "kmc"}, "give --counts"},
      {{"--counts", "--json", "--dump-format", "kmc"}, "--dump-format and --json"},
      {{"--counts", "--dump-format", "tsv"}, "--dump-format"}};
  for (const auto& [flags, message] : table) {
    const CommandResult result = count_kmers_with(5, flags, ">s\nACGT\n");
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.error, AllOf(StartsWith("tally kmers: "), HasSubstr(message)));
  }
}

TEST(KmerCounts, NothingIsStatusOneWithAnEmptyTable) {
  const CommandResult result = count_kmers_with(5, {"--counts", "-L", "1"}, ">s\nACGT\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
}

TEST(KmerCounts, AgreeWithJellyfishToTheByte) {
  if (run_shell("command -v jellyfish").exit_code != 0) GTEST_SKIP() << "jellyfish is not installed";
  const TemporaryDirectory directory;
  const std::string input = directory.write("reads.fq", reads_fastq());
  const std::string table = directory / "exact.jf";
  ASSERT_EQ(run_shell("jellyfish count -m 31 -C -s 1M -o " + table + " " + input).exit_code, 0);
  const auto ours = [&](const std::string& format) {
    return count_kmers_with(31, {"--counts", "-L", "1", "--dump-format", format, input}).output;
  };
  EXPECT_EQ(ours("jellyfish-column"), run_shell("jellyfish dump -c " + table + " | LC_ALL=C sort").output);
  const std::string pairs = " | paste - - | LC_ALL=C sort -k 2 | tr '\\t' '\\n'";
  EXPECT_EQ(ours("jellyfish"), run_shell("jellyfish dump " + table + pairs).output);
  EXPECT_EQ(count_kmers_with(31, {"--histogram", "-", "-L", "1", input}).output,
            run_shell("jellyfish histo " + table).output);
}

}  // namespace
}  // namespace tally::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "command_runner.hpp"
#include "key_report.hpp"
#include "key_streams.hpp"
#include "kmer_oracle.hpp"
#include "random.hpp"
#include "running_command.hpp"
#include "simulated_reads.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

Texts sorted(Texts texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

Texts with_count(const Counts& counts, std::uint64_t least, std::uint64_t greatest = ~std::uint64_t{0}) {
  Texts kmers;
  for (const auto& [kmer, count] : counts) {
    if (count >= least && count <= greatest) kmers.push_back(kmer);
  }
  return sorted(kmers);
}

// Of sorted texts; gmock's matchers take the square of their number in time.
bool is_subset(const Texts& part, const Texts& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

std::string lines_of(const Texts& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + '\n';
  return lines;
}

CommandResult kmers(std::size_t length, Texts flags, const std::string& input = "") {
  flags.insert(flags.begin(), {"kmers", "-q", one_seed, "-k", std::to_string(length)});
  return run_tally(std::move(flags), input);
}

// Every different k-mer, in the order of the input.
Texts all_kmers(std::size_t length, const std::string& input, const Texts& more_flags = {}) {
  Texts flags{"-L", "1"};
  flags.insert(flags.end(), more_flags.begin(), more_flags.end());
  const CommandResult result = kmers(length, flags, input);
  EXPECT_THAT(result.error, IsEmpty());
  EXPECT_EQ(result.exit_code, result.output.empty() ? 1 : 0);
  return split_keys(result.output);
}

// Bases of both cases, and here and there something else.
std::string messy_bases(std::size_t size, Random& random) {
  constexpr std::string_view often = "ACGTacgt";
  constexpr std::string_view seldom = "NnRYU-*.";
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += random.below(40) == 0 ? seldom[random.below(seldom.size())] : often[random.below(often.size())];
  return text;
}

TEST(KmersCommand, PrintsEveryKmerOfOneStrandOrCanonical) {
  EXPECT_THAT(all_kmers(3, ">s\nACGTT\n"), ElementsAre("ACG", "AAC"));  // CGT is ACG backwards, GTT is AAC
  EXPECT_THAT(all_kmers(3, ">s\nACGTT\n", {"-C"}), ElementsAre("ACG", "AAC"));
  EXPECT_THAT(all_kmers(3, ">s\nACGTT\n", {"--no-canonical"}), ElementsAre("ACG", "CGT", "GTT"));
  EXPECT_THAT(all_kmers(1, ">s\nTGCA\n"), ElementsAre("A", "C"));
}

TEST(KmersCommand, RollsAsCuttingEveryKmerOutDoes) {
  Random random(1);
  for (const std::size_t length : {1, 2, 3, 15, 16, 30, 31, 32, 33, 47, 63, 64, 65, 90, 96, 97, 126, 127}) {
    for (int round = 0; round < 4; ++round) {
      const std::string bases = messy_bases(random.below(4000), random);
      const std::string input = ">name\n" + bases + '\n';
      EXPECT_EQ(all_kmers(length, input), keys_over(kmers_of(bases, length), 1)) << length << bases;
      EXPECT_EQ(all_kmers(length, input, {"--no-canonical"}), keys_over(kmers_of(bases, length, false), 1));
    }
    // Clean ones, so that long k-mers are there at all.
    const std::string bases = random_genome(3000, length);
    EXPECT_EQ(all_kmers(length, ">x\n" + bases), keys_over(kmers_of(bases, length), 1)) << length;
    EXPECT_EQ(all_kmers(length, ">x\n" + bases, {"--no-canonical"}),
              keys_over(kmers_of(bases, length, false), 1));
  }
}

TEST(KmersCommand, ARunOfOneBaseIsOneKmerOfEveryLength) {
  for (const std::size_t length : {1, 31, 32, 33, 64, 65, 127}) {
    for (const char base : {'A', 'C', 'G', 'T'}) {
      const std::string input = ">s\n" + std::string(200, base) + '\n';
      EXPECT_THAT(all_kmers(length, input, {"--no-canonical"}), ElementsAre(std::string(length, base)));
      const char least = std::min(base, complement(base));
      EXPECT_THAT(all_kmers(length, input), ElementsAre(std::string(length, least)));
    }
  }
}

TEST(KmersCommand, FastaMayGoOverManyLinesInAnyStyle) {
  const Texts expected{"ACGTA", "CGTAC", "GTACC"};
  for (const char* input :
       {">s\nACGTACC\n", ">s\nACGTACC", ">s\r\nACGTACC\r\n", ">s\nACG\nTA\nCC\n", ">s\r\nACG\r\nTA\r\nCC",
        "\n\n>s\n\nACGT\n\nACC\n\n", ">s\nacgt acc\n", ">s >@+\nACGTACC\n",
        ">\nACGTACC\n>empty\n>short\nACG\n", ">empty\n\n>s\nACGTACC\n>last\n"}) {
    EXPECT_EQ(all_kmers(5, input, {"--no-canonical"}), expected) << input;
  }
  // Sequences do not run into each other, nor files.
  EXPECT_THAT(all_kmers(3, ">a\nAC\n>b\nGT\n"), IsEmpty());
  TemporaryDirectory directory;
  const std::string a = directory.write("a", ">a\nAAC");
  const std::string b = directory.write("b", ">b\nTTTT\n");
  EXPECT_EQ(kmers(3, {"-L", "1", "--no-canonical", a, b, a}).output, "AAC\nTTT\n");
}

TEST(KmersCommand, FastqMayHoldAnythingInItsQuality) {
  const Texts expected{"ACGTA", "CGTAC", "GTACC"};
  for (const char* input :
       {"@r\nACGTACC\n+\nIIIIIII\n", "@r\nACGTACC\n+\nIIIIIII", "@r\r\nACGTACC\r\n+r\r\nIIIIIII\r\n",
        "@r\nACGTACC\n+\n@@@@@@@\n@r2\nACGTACC\n+\n+++++++\n", "@r\nACGTACC\n+\n>ACGTGG\n\n\n",
        "@r\nACG\nTACC\n+\nIII\n@II\nI\n", "@empty\n\n+\n\n@r\nACGTACC\n+\nIIIIIII\n@empty\n\n+\n",
        "@short\nAC\n+\nII\n@r\nACGTACC\n+\nIIIIIII\n"}) {
    EXPECT_EQ(all_kmers(5, input, {"--no-canonical"}), expected) << input;
  }
}

TEST(KmersCommand, ALongSequenceLosesNothingBetweenPiecesAndRepeatsNothing) {
  const std::string genome = random_genome(400'000, 3);
  std::string wrapped = ">chromosome\n";
  for (std::size_t i = 0; i < genome.size(); i += 71) wrapped += genome.substr(i, 71) + '\n';
  for (const std::size_t length : {21, 64}) {
    const Texts expected = kmers_of(genome, length);  // all different
    for (const std::string& input : {">one line\n" + genome + '\n', wrapped}) {
      EXPECT_EQ(all_kmers(length, input), expected);
      EXPECT_EQ(sorted(all_kmers(length, input, {"-t", "3"})), sorted(expected));
      const CommandResult twice = kmers(length, {"-L", "2", "-s", "400K", "-p", "1e-12"}, input);
      EXPECT_EQ(twice.output, "");
      EXPECT_EQ(twice.exit_code, 1);
    }
  }
}

// The address sanitizer takes addresses for itself, and so does an emulator.
#if !defined(TALLY_COMMAND_IS_SANITIZED) && !defined(TALLY_COMMAND_IS_EMULATED)
TEST(KmersCommand, ASequenceOfAnyLengthTakesNoMemory) {
  const std::string chromosome =
      "{ printf '>chromosome\\n'; head -c 150000000 /dev/zero | tr '\\0' A; printf 'C\\n'; }";
  const std::string command = "(ulimit -v 60000; exec \"$TALLY\" kmers -q -k 31 -L 1 --memory 64KiB)";
  const CommandResult result = run_shell(chromosome + " | " + command);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, std::string(31, 'A') + '\n' + std::string(30, 'A') + "C\n");
}
#endif

// The least BGZF there is: stored blocks, and the empty block that ends a file.
std::string bgzf_block(std::string_view data) {
  const auto number = [](std::uint64_t value, int num_bytes) {
    std::string bytes;
    for (int i = 0; i < num_bytes; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return bytes;
  };
  boost::crc_32_type checksum;
  checksum.process_bytes(data.data(), data.size());
  const std::string deflated = '\x01' + number(data.size(), 2) + number(~data.size(), 2) + std::string(data);
  using namespace std::string_literals;
  return "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0"s + number(18 + deflated.size() + 8 - 1, 2) +
         deflated + number(checksum.checksum(), 4) + number(data.size(), 4);
}

std::string bgzf(std::string_view data) {
  std::string bytes;
  for (std::size_t i = 0; i < data.size(); i += 50'000) bytes += bgzf_block(data.substr(i, 50'000));
  return bytes + bgzf_block("");
}

TEST(KmersCommand, ReadsGzipAndBgzfAlsoFromAPipe) {
  TemporaryDirectory directory;
  const std::string plain = directory.write("reads.fq", reads_fastq());
  const std::string expected = kmers(31, {"-s", "50K", plain}).output;
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(run_shell("gzip -k " + plain).exit_code, 0);
  const std::string packed = directory.write("reads.bgz.gz", bgzf(reads_fastq()));
  EXPECT_EQ(kmers(31, {"-s", "50K", plain + ".gz"}).output, expected);
  EXPECT_EQ(kmers(31, {"-s", "50K", packed}).output, expected);
  EXPECT_EQ(kmers(31, {"-s", "50K"}, reads_fastq()).output, expected);
  EXPECT_EQ(kmers(31, {"-s", "50K", "-"}, read_file(plain + ".gz")).output, expected);
  // Two gzip members are one file.
  const std::string twice = directory.write("twice.gz", read_file(plain + ".gz") + read_file(plain + ".gz"));
  EXPECT_EQ(kmers(31, {"-s", "50K", twice}).output, kmers(31, {"-s", "50K", plain, plain}).output);
}

TEST(KmersCommand, DamagedAndTruncatedInputIsAnErrorThatNamesTheFile) {
  TemporaryDirectory directory;
  ASSERT_EQ(run_shell("gzip > " + directory / "whole.gz", reads_fastq()).exit_code, 0);
  const std::string gzip = read_file(directory / "whole.gz");
  const std::string packed = bgzf(reads_fastq());
  std::string damaged = gzip;
  damaged[gzip.size() / 2] ^= 0x55;
  struct Case {
    const char* name;
    std::string bytes;
    const char* message;
  };
  const std::vector<Case> cases{
      {"half.gz", gzip.substr(0, gzip.size() / 2), "is the file complete?"},
      {"tail.gz", gzip.substr(0, gzip.size() - 1), "is the file complete?"},
      {"damaged.gz", damaged, "damaged"},
      {"half.bgz", packed.substr(0, packed.size() / 2), "is the file complete?"},
      {"noend.bgz", packed.substr(0, packed.size() - bgzf_block("").size()), "is the file complete?"},
      {"plain.gz", ">s\nACGT\n", "the data has another format"},
      {"text", "hello\n", "not a FASTA or FASTQ file"},
      {"zstd", "\x28\xb5\x2f\xfd rest", "damaged zstd data"},
      {"shortened.fq", "@r\nACGT\n+\nII",
       "the quality of the record 'r' is missing, cut off, or not as long"},
      {"header.fq", "@r\nACGT\n+\nIIII\n@r2", "the quality of the record 'r2' is missing"},
      {"longer.fq", "@r\nACGT\n+\nIIIII\n",
       "the quality of the record 'r' is missing, cut off, or not as long"},
      {"mixed.fq", "@r\nACGT\n+\nIIII\n>s\nACGT\n", "the quality of the record 's' is missing"}};
  for (const Case& tried : cases) {
    for (const char* threads : {"1", "3"}) {
      const std::string path = directory.write(tried.name, tried.bytes);
      const CommandResult result = kmers(4, {"-L", "1", "-t", threads, path});
      EXPECT_EQ(result.exit_code, 2) << tried.name;
      EXPECT_THAT(result.error, AllOf(StartsWith("tally kmers: " + path), HasSubstr(tried.message)));
      const std::string output = directory / "out.tally";
      EXPECT_EQ(kmers(4, {"-s", "100", "-o", output, path}).exit_code, 2);
      EXPECT_FALSE(std::filesystem::exists(output));
    }
  }
  EXPECT_THAT(kmers(4, {"-L", "1", directory / "none"}).error, HasSubstr("No such file"));
  EXPECT_THAT(kmers(4, {"-L", "1", directory / "."}).error, HasSubstr("directory"));
}

TEST(KmersCommand, EmptyInputIsNoKmers) {
  TemporaryDirectory directory;
  const std::string empty = directory.write("empty", "");
  EXPECT_EQ(kmers(31, {empty}).exit_code, 1);
  EXPECT_EQ(kmers(31, {"-L", "1"}, "").exit_code, 1);
  EXPECT_EQ(kmers(31, {"-o", directory / "empty.tally", empty}).exit_code, 1);
  EXPECT_EQ(run_tally({"query", "-c", directory / "empty.tally"}, "ACGT\n").output, "0\n");
}

TEST(KmersCommand, PrintsThoseSeenOftenEnoughOnceAndTheCountWithThem) {
  const Texts stream = kmers_of_all(reads(), 31);
  for (const std::uint64_t least : {2, 3, 10}) {
    const CommandResult result =
        kmers(31, {"-L", std::to_string(least), "-s", "50K", "-p", "1e-12", "-c"}, reads_fastq());
    Texts expected;
    for (const std::string& kmer : keys_over(stream, least))
      expected.push_back(std::to_string(least) + '\t' + kmer);
    EXPECT_EQ(split_keys(result.output), expected);
  }
}

TEST(KmersCommand, WithAnyNumberOfThreadsNoneIsMissedAndNoneRepeated) {
  for (const std::size_t length : {15, 31, 41}) {
    const Counts counts = count_exactly(kmers_of_all(reads(), length));
    for (const char* threads : {"1", "2", "5"}) {
      const CommandResult result = kmers(length, {"-s", "40K", "-t", threads}, reads_fastq());
      const Texts printed = sorted(split_keys(result.output));
      EXPECT_TRUE(is_subset(with_count(counts, 2), printed));
      EXPECT_EQ(std::adjacent_find(printed.begin(), printed.end()), printed.end());
      EXPECT_TRUE(is_subset(printed, with_count(counts, 1)));
    }
  }
}

TEST(KmersCommand, WhatComesBeforeADamageIsPrintedByAnyNumberOfThreads) {
  constexpr std::size_t num_bases = 300'000;
  constexpr std::size_t bases_of_one_read = 40'000;  // that of the damage, at most
  Random random(8);
  std::string bases(num_bases, 'A');
  for (char& base : bases) base = "ACGT"[random.below(4)];
  TemporaryDirectory directory;
  const std::string path = directory.write(
      "cut.fq", "@long\n" + bases + "\n+\n" + std::string(num_bases, 'I') + "\n@r\nACGT\n+\nII");
  const Texts expected = with_count(count_exactly(kmers_of_all({bases}, 31)), 1);
  for (const char* threads : {"1", "2", "5"}) {
    const CommandResult result = kmers(31, {"-L", "1", "-t", threads, path});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("the quality of the record 'r' is missing"));
    const Texts printed = sorted(split_keys(result.output));
    EXPECT_TRUE(is_subset(printed, expected));
    EXPECT_GE(printed.size() + bases_of_one_read, expected.size()) << threads;
  }
}

TEST(KmersCommand, TheFilterFileIsTheSameForAnyNumberOfThreads) {
  TemporaryDirectory directory;
  const std::string input = directory.write("reads.fq", reads_fastq());
  const std::string output = directory / "out.tally";
  std::string first;
  for (const char* threads : {"1", "2", "5"}) {
    for (const char* least : {"2"}) {
      const CommandResult result =
          kmers(31, {"-s", "50K", "-L", least, "-t", threads, "-o", output, "--force", input});
      EXPECT_EQ(result.exit_code, 0) << result.error;
      EXPECT_EQ(result.output, "");
      const std::string bytes = read_file(output);
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes, first) << threads;
    }
  }
}

// Of the k-mers, how many the filter file lets pass.
std::uint64_t num_passing(const std::string& filter, const Texts& kmers) {
  return std::stoull(run_tally({"query", "-c", filter}, lines_of(kmers)).output);
}

TEST(KmersCommand, TheFilterFileAnswersQueriesWithinThePlan) {
  TemporaryDirectory directory;
  const std::string genome = random_genome(60'000, 21);
  Texts sequences;
  simulate_reads(genome, {.coverage = 8, .read_length = 100, .substitution_rate = 0.02, .seed = 22},
                 [&](std::string_view read) { sequences.emplace_back(read); });
  std::string fasta;
  for (const std::string& sequence : sequences) fasta += ">r\n" + sequence + '\n';
  const std::string input = directory.write("reads.fa", fasta);
  const std::string filter = directory / "out.tally";
  for (const std::size_t length : {25, 40}) {
    const Counts counts = count_exactly(kmers_of_all(sequences, length));
    const std::string size = std::to_string(counts.size());
    for (const std::uint64_t least : {1, 2, 3}) {
      for (const double rate : {0.2, 0.01}) {
        const CommandResult result =
            kmers(length, {"-s", size, "-L", std::to_string(least), "-p", std::to_string(rate), "-t", "2",
                           "--force", "-o", filter, input});
        EXPECT_EQ(result.exit_code, 0);
        const Texts wanted = with_count(counts, least);
        EXPECT_EQ(num_passing(filter, wanted), wanted.size());  // none missed
        // A k-mer seen once less than enough, or never, passes with the planned rate: at least 10,000 are asked
        // about. It differs by 6 standard deviations once in 5e8 times; the plan is met to 0.5% besides.
        Texts others = with_count(counts, least - 1, least - 1);
        if (least == 1) others = kmers_of(random_genome(50'000, 23), length);
        ASSERT_GE(others.size(), 10'000U);
        const auto trials = static_cast<double>(others.size());
        const auto passed = static_cast<double>(num_passing(filter, others));
        const double margin = 6 * std::sqrt(trials * rate * (1 - rate)) + 0.005 * trials * rate;
        EXPECT_NEAR(passed, trials * rate, margin) << length << ' ' << least << ' ' << rate;
      }
    }
  }
}

TEST(KmersCommand, IsSizedByAFirstPassOverFilesAndSaysSo) {
  TemporaryDirectory directory;
  const std::string input = directory.write("reads.fq", reads_fastq());
  for (const std::string length : {"31", "45"}) {
    const Counts counts = count_exactly(kmers_of_all(reads(), std::stoul(length)));
    const CommandResult result = run_tally({"kmers", one_seed, "-k", length, "-t", "2", input});
    EXPECT_THAT(result.error, AllOf(HasSubstr("of them distinct"), HasSubstr("planned for")));
    EXPECT_TRUE(is_subset(with_count(counts, 2), sorted(split_keys(result.output))));
    const KeyReport report = run_for_keys({"kmers", one_seed, "-k", length, input}, "");
    const double distinct = report.summary["num_distinct_kmers_estimate"];
    EXPECT_NEAR(distinct, static_cast<double>(counts.size()), 0.02 * distinct);
    EXPECT_LE(report.summary["false_positive_rate_at_most"], 0.0101);
  }
  const CommandResult redirected =
      run_shell("\"$TALLY\" kmers -k 31 -q " + std::string(one_seed) + " < " + input);
  EXPECT_EQ(redirected.output, kmers(31, {input}).output);
  const CommandResult piped = kmers(31, {}, reads_fastq());
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_THAT(piped.error, AllOf(HasSubstr("read twice"), HasSubstr("--size"), HasSubstr("--memory")));
}

TEST(KmersCommand, TakesNoMoreMemoryThanItIsGivenAndMissesNothing) {
  const Counts counts = count_exactly(kmers_of_all(reads(), 31));
  TemporaryDirectory directory;
  const std::string input = directory.write("reads.fq", reads_fastq());
  for (const char* threads : {"1", "3"}) {
    for (const std::uint64_t kibibytes : {64U, 128U, 1024U}) {
      const KeyReport report = run_for_keys({"kmers", one_seed, "-k", "31", "-t", threads, "--memory",
                                             std::to_string(kibibytes) + "KiB", input},
                                            "");
      EXPECT_LE(report.summary["memory_bytes"], kibibytes << 10);
      const Texts printed = sorted(report.keys);
      EXPECT_TRUE(is_subset(with_count(counts, 2), printed));
      Texts once = printed;
      once.erase(std::unique(once.begin(), once.end()), once.end());
      EXPECT_LE(printed.size() - once.size(), report.summary["num_possible_repeats"].get<std::size_t>());
      if (kibibytes == 64U) {
        EXPECT_THAT(report.error, AllOf(HasSubstr("may be repeats"), HasSubstr("warning: planned for")));
      }
    }
  }
  EXPECT_EQ(kmers(31, {"--memory", "100K", "-o", directory / "out.tally", input}).exit_code, 0);
  EXPECT_LE(std::filesystem::file_size(directory / "out.tally"), 100'000U + 4096U);
}

TEST(KmersCommand, KeepsBitsForKmersThatOccurTwiceUnlessTheRateIsVeryLow) {
  const auto planned = [](Texts options) {
    options.insert(options.begin(), {"kmers", "-k", "31"});
    const std::string text = run_tally(options, reads_fastq()).error;
    return text.substr(0, text.find("; a k-mer"));
  };
  EXPECT_THAT(planned({"-s", "1M"}), HasSubstr("planned for 1.00 M distinct k-mers: 12.1 M bits, k = 5"));
  EXPECT_THAT(planned({"-s", "1M", "--counts", "-p", "1e-4"}), HasSubstr(": 45.5 M bits, k = 9"));
  EXPECT_THAT(planned({"-s", "1M", "-p", "0.9e-4"}), HasSubstr(": 20.5 M counters of 2 bits, k = 9"));
  EXPECT_THAT(planned({"-s", "1M", "-L", "3"}), HasSubstr(": 10.5 M counters of 2 bits, k = 4"));
  EXPECT_THAT(planned({"--memory", "2MB"}), HasSubstr("988.6 K distinct k-mers: 12.0 M bits, k = 5"));
  EXPECT_THAT(planned({"-s", "200K", "--memory", "2MB"}), HasSubstr("200.0 K distinct k-mers: 12.0 M bits"));
  TemporaryDirectory directory;
  EXPECT_THAT(planned({"-s", "1M", "-o", directory / "a.tally"}),
              HasSubstr(": 10.5 M counters of 2 bits, k = 4"));
}

TEST(KmersCommand, WarnsThatThereAreMoreThanPlanned) {
  const CommandResult result = kmers(31, {"-s", "1000", "-L", "2"}, reads_fastq());
  EXPECT_THAT(result.error, HasSubstr("warning: planned for 1000 distinct k-mers"));
  EXPECT_TRUE(
      is_subset(with_count(count_exactly(kmers_of_all(reads(), 31)), 2), sorted(split_keys(result.output))));
}

TEST(KmersCommand, TheSummaryCountsBasesSequencesAndKmers) {
  const std::string input = ">a\nACGTACGTAC\nGT\n>b\nACGNACG\n>c\n";
  const KeyReport report = run_for_keys({"kmers", "-k", "4", "-s", "10", "-p", "1e-9"}, input);
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.keys, keys_over(kmers_of("ACGTACGTACGTxACGNACG", 4), 2));
  EXPECT_EQ(report.summary["num_bases"], 19);
  EXPECT_EQ(report.summary["num_sequences"], 3);
  EXPECT_EQ(report.summary["num_kmers"], 9);
  EXPECT_EQ(report.summary["num_distinct_kmers_estimate"], 3);  // ACGT, CGTA, GTAC and TACG are three
  EXPECT_EQ(report.summary["num_reported"], report.keys.size());
  EXPECT_EQ(report.summary["interrupted"], false);
  EXPECT_THAT(report.error, AllOf(HasSubstr("19 bases in 3 sequences, 9 k-mers"), HasSubstr("k = ")));
  TemporaryDirectory directory;
  const CommandResult written =
      run_tally({"kmers", "-k", "4", "-s", "10", "--json", "-o", directory / "x.tally"}, input);
  const Json json = Json::parse(written.output);
  EXPECT_EQ(json["num_kmers"], 9);
  EXPECT_EQ(json["filter"]["num_insertions"], 9);
  EXPECT_EQ(run_tally({"info", directory / "x.tally"}).exit_code, 0);
}

TEST(KmersCommand, RefusesOptionsOutOfRangeOrThatContradict) {
  const std::vector<Texts> table{{"-k", "0"},
                                 {"-k", "128"},
                                 {"-k", "nan"},
                                 {},
                                 {"-k", "31", "-m", "30"},
                                 {"-k", "31", "-L", "0"},
                                 {"-k", "31", "-t", "0"},
                                 {"-k", "31", "-t", "257"},
                                 {"-k", "31", "-s", "0"},
                                 {"-k", "31", "-p", "1"},
                                 {"-k", "31", "--memory", "65535"},
                                 {"-k", "31", "-s", "10", "--memory", "1M", "-p", "1%"},
                                 {"-k", "31", "-c", "-s", "10", "-o", "/nonexistent/x"},
                                 {"-k", "31", "-s", "10", "-o", "/"}};
  for (Texts flags : table) {
    flags.insert(flags.begin(), "kmers");
    const CommandResult result = run_tally(flags, ">s\nACGT\n");
    EXPECT_EQ(result.exit_code, 2) << lines_of(flags);
    EXPECT_THAT(result.error, StartsWith("tally kmers: ")) << lines_of(flags);
    EXPECT_THAT(result.output, IsEmpty());
  }
  TemporaryDirectory directory;
  const std::string there = directory.write("there", "x");
  EXPECT_THAT(kmers(31, {"-s", "10", "-o", there}, ">s\nACGT\n").error, HasSubstr("--force"));
  EXPECT_EQ(read_file(there), "x");
}

TEST(KmersCommand, TakesJellyfishsNamesOfTheOptions) {
  TemporaryDirectory directory;
  const std::string input = directory.write("reads.fq", reads_fastq());
  const std::string output = directory / "out.tally";
  EXPECT_EQ(run_tally({"kmers", "-m", "31", "-s", "50K", "-t", "2", "-C", "-L", "3", "-o", output, input})
                .exit_code,
            0);
  const std::string short_names = read_file(output);
  EXPECT_EQ(run_tally({"kmers", "--mer-len=31", "--size=50K", "--threads=1", "--canonical", "--lower-count=3",
                       "--force", "--output=" + output, input})
                .exit_code,
            0);
  EXPECT_EQ(read_file(output), short_names);
}

TEST(KmersCommand, AnInterruptOfAnIdlePipeEndsIt) {
  for (const char* threads : {"1", "3"}) {
    RunningCommand command({TALLY_COMMAND, "kmers", "-k", "4", "-s", "10", "-p", "1e-9", "-t", threads});
    EXPECT_THAT(command.read_error_line(), HasSubstr("planned for 10"));
    command.write(">s\nACGTTTTTT\n>not whole yet\nAC");
    usleep(200'000);
    command.send(SIGINT);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.output, "AAAA\n");
    EXPECT_THAT(result.error, HasSubstr("interrupted after"));
  }
}

bool has_jellyfish() { return run_shell("command -v jellyfish").exit_code == 0; }

// The exact counts of `jellyfish count`, as "kmer count" lines of those from `least` to `greatest`.
Texts jellyfish_kmers(const TemporaryDirectory& directory, const std::string& bounds) {
  const CommandResult dump =
      run_shell("jellyfish dump -c " + bounds + " " + directory / "exact.jf" + " | cut -d' ' -f1");
  return split_keys(dump.output);
}

// Jellyfish's counts of the reads in a file, against what is printed and what is written.
void expect_jellyfish_agrees(const TemporaryDirectory& directory, const std::string& input) {
  ASSERT_EQ(
      run_shell("jellyfish count -m 31 -C -s 10M -t 2 -o " + directory / "exact.jf" + " " + input).exit_code,
      0);
  const Texts wanted = jellyfish_kmers(directory, "-L 2");
  const Texts others = jellyfish_kmers(directory, "-U 1");
  const std::string size = std::to_string(wanted.size() + others.size());
  const std::string filter = directory / "out.tally";
  ASSERT_EQ(kmers(31, {"-s", size, "-t", "2", "-o", filter, input}).exit_code, 0);
  EXPECT_EQ(num_passing(filter, wanted), wanted.size());
  const auto trials = static_cast<double>(others.size());
  EXPECT_NEAR(static_cast<double>(num_passing(filter, others)), 0.01 * trials,
              6 * std::sqrt(0.01 * trials) + 0.005 * 0.01 * trials);  // as above
  const Texts printed = sorted(split_keys(kmers(31, {"-s", size, "-t", "2", input}).output));
  const Texts exact = sorted(wanted);
  EXPECT_TRUE(is_subset(exact, printed));
  EXPECT_LE(static_cast<double>(printed.size() - exact.size()), 0.01 * trials);
}

TEST(KmersCommand, AgreesWithJellyfish) {
  if (!has_jellyfish()) GTEST_SKIP() << "jellyfish is not installed";
  TemporaryDirectory directory;
  expect_jellyfish_agrees(directory, directory.write("reads.fq", reads_fastq()));
}

TEST(KmersCommand, SlowAgreesWithJellyfishOnReadsOfEscherichiaColi) {
  const std::string genome_file = "/usr/share/doc/ragout/examples/E.Coli/references/MG1655-K12.fasta.gz";
  if (!has_jellyfish()) GTEST_SKIP() << "jellyfish is not installed";
  if (!std::filesystem::exists(genome_file)) GTEST_SKIP() << "ragout-examples is not installed";
  std::string genome;
  for (const std::string& line : split_keys(run_shell("gzip -dc " + genome_file).output)) {
    if (!line.starts_with('>')) genome += line;
  }
  TemporaryDirectory directory;
  const std::string input = directory / "reads.fq";
  std::ofstream file(input);
  simulate_reads(genome, {.coverage = 10, .read_length = 150},
                 [&](std::string_view read) { file << fastq_record(0, read); });
  file.close();
  expect_jellyfish_agrees(directory, input);
}

}  // namespace
}  // namespace tally::test

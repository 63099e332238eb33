#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"

// What becomes of bytes on their way to keys, seen through `tally uniq` (each key once, in order) and `tally over`.

namespace tally::test {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string uniq(const std::string& input, std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"uniq", "-q"});
  const CommandResult result = run_tally(flags, input);
  EXPECT_THAT(result.error, IsEmpty());
  return result.output;
}

std::string gzipped(const std::string& bytes) { return run_program({"gzip", "-c"}, bytes).output; }

std::string little_endian(std::uint64_t value, std::size_t num_bytes) {
  std::string bytes;
  for (std::size_t i = 0; i < num_bytes; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A zstd frame of raw blocks (RFC 8878, 3.1.1), so that no zstd program is needed.
std::string zstd_frame(std::string_view bytes) {
  constexpr std::size_t block_bytes = 100'000;
  std::string frame =
      "\x28\xb5\x2f\xfd\xa0" + little_endian(bytes.size(), 4);  // one segment, its size in 4 bytes
  do {
    const std::string_view block = bytes.substr(0, block_bytes);
    bytes.remove_prefix(block.size());
    frame += little_endian(block.size() << 3 | (bytes.empty() ? 1 : 0), 3);
    frame += block;
  } while (!bytes.empty());
  return frame;
}

// A block of one byte, repeated: much more comes out than went in.
std::string zstd_frame_of_one_byte(char byte, std::size_t count) {
  return "\x28\xb5\x2f\xfd\xa0" + little_endian(count, 4) + little_endian(count << 3 | 2 | 1, 3) + byte;
}

TEST(Lines, AreKeysWithoutTheirNewlineAndNothingElse) {
  EXPECT_EQ(uniq("a\nb\na"), "a\nb\n");       // the last line needs no newline
  EXPECT_EQ(uniq("a\n\n\nb\n"), "a\n\nb\n");  // an empty line is the empty key
  EXPECT_EQ(uniq("\n"), "\n");
  EXPECT_EQ(uniq("a\r\na\nb\r\n"), "a\r\na\nb\r\n");
  EXPECT_EQ(uniq(" a\na \na\n"), " a\na \na\n");
  EXPECT_EQ(uniq("a\0b\na\0c\n\xff\xfe\n"s), "a\0b\na\0c\n\xff\xfe\n"s);
}

TEST(Lines, MayEndInANulInstead) {
  EXPECT_EQ(uniq("a\nb\0c\0a\nb\0"s, {"-z"}), "a\nb\0c\0"s);
  EXPECT_EQ(uniq("a\0\0b"s, {"-z"}), "a\0\0b\0"s);
  EXPECT_EQ(run_tally({"over", "2", "-q", "-c", "--null"}, "x\0y\0x\0"s).output, "2\tx\0"s);
}

TEST(Lines, OfAnyLengthAroundTheBuffersAreKeptWhole) {
  std::string input;
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 65535U, 65536U, 65537U, 262143U, 262144U, 262145U,
                                 524287U, 524288U, 524289U, 1048575U, 1048576U, 1048577U, 3000000U}) {
    input += std::string(size, 'x') + '\n';
    input += std::string(size, 'y') + "z\n";
  }
  EXPECT_TRUE(uniq(input) == input);
  EXPECT_TRUE(uniq(input, {"-f", "1"}) == input);
}

TEST(Lines, ManyBatchesKeepTheirOrder) {
  std::string input;
  for (int i = 0; i < 300'000; ++i) input += std::to_string(i) + '\n';
  EXPECT_TRUE(uniq(input) == input);
  EXPECT_TRUE(run_tally({"over", "1", "-q"}, input).output == input);
}

TEST(Lines, SlowLongerThanAGibibyteAreRefused) {
  const CommandResult result = run_tally({"uniq", "/dev/zero"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("longer than 1 GiB; is -z missing?"));
}

TEST(Lines, CutOffByAnInterruptAreNoKeys) {
  RunningCommand command({TALLY_COMMAND, "uniq", "--line-buffered"});
  command.write("whole\npart of a ");
  EXPECT_EQ(command.read_line(), "whole\n");
  usleep(100'000);  // until it waits for the rest
  command.send(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, HasSubstr("interrupted after 1 lines"));
}

TEST(Files, ThatAreWaitedForDoNotHoldUpAnInterrupt) {
  TemporaryDirectory directory;
  const std::string one = directory.write("one", "a\n");
  const std::string pipe = directory / "pipe";  // nobody writes to it
  ASSERT_EQ(run_program({"mkfifo", pipe}).exit_code, 0);
  RunningCommand command({TALLY_COMMAND, "uniq", "--line-buffered", one, pipe, one});
  EXPECT_EQ(command.read_line(), "a\n");
  usleep(100'000);  // until it opens the pipe
  command.send(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, HasSubstr("interrupted after 1 lines"));
}

TEST(Files, AreReadInTurnAndAMissingLastNewlineJoinsNoLines) {
  TemporaryDirectory directory;
  const std::string one = directory.write("one", "a\nb");
  const std::string two = directory.write("two", "c\na\n");
  const std::string empty = directory.write("empty", "");
  EXPECT_EQ(uniq("", {one, two}), "a\nb\nc\n");
  EXPECT_EQ(uniq("b\nd\n", {two, "-", one}), "c\na\nb\nd\n");
  EXPECT_EQ(uniq("d", {empty, one, empty, "-", empty}), "a\nb\nd\n");
  EXPECT_EQ(run_tally({"uniq", "-q", empty}).exit_code, 1);
  EXPECT_EQ(run_tally({"over", "2", "-q", one, one, two}).output, "a\nb\n");
}

TEST(Files, ThatCannotBeReadAreNamedAndWhatWasFoundBeforeStays) {
  TemporaryDirectory directory;
  const std::string one = directory.write("one", "a\nb\n");
  for (const std::string& bad : {directory / "none", directory / "."}) {
    const CommandResult result = run_tally({"uniq", "-q", one, bad, one});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "a\nb\n");
    EXPECT_THAT(result.error, AllOf(StartsWith("tally uniq: " + bad + ": "),
                                    AnyOf(HasSubstr("No such file"), HasSubstr("Is a directory"))));
  }
  const CommandResult closed = run_shell("\"$TALLY\" uniq <&-");
  EXPECT_EQ(closed.exit_code, 2);
  EXPECT_THAT(closed.error, HasSubstr("standard input: Bad file descriptor"));
}

TEST(CompressedFiles, AreToldByTheirFirstBytesWhateverTheirName) {
  TemporaryDirectory directory;
  const std::string text = zipf_lines(50'000, 20'000, 0.5, 21);
  const std::string wanted = uniq(text);
  for (const std::string& compressed : {gzipped(text), zstd_frame(text)}) {
    EXPECT_TRUE(uniq(compressed) == wanted);
    EXPECT_TRUE(uniq("", {directory.write("file", compressed)}) == wanted);
    EXPECT_TRUE(uniq(compressed, {directory.write("plain", "k0\n"), "-"})
                    .ends_with(wanted.substr(wanted.size() / 2)));
  }
  EXPECT_TRUE(uniq("", {directory.write("file.gz", gzipped(text))}) == wanted);
  EXPECT_TRUE(uniq("", {directory.write("file.zst", zstd_frame(text))}) == wanted);
}

struct Format {
  const char* ending;
  std::vector<std::string> program;
};

const std::vector<Format> formats{{".gz", {"gzip", "-c"}},
                                  {".zst", {"zstd", "-qc"}},
                                  {".xz", {"xz", "-c"}},
                                  {".bz2", {"bzip2", "-c"}},
                                  {".lz4", {"lz4", "-qc"}}};

TEST(CompressedFiles, OfEveryFormatAreReadByEveryCommand) {
  TemporaryDirectory directory;
  const std::string text = zipf_lines(20'000, 5'000, 0.5, 23);
  const std::string plain = directory.write("plain", text);
  const std::string sequence = directory.write("plain.fa", ">s\nACGTACGTTTACGGATTA\n");
  const std::string filter = directory / "filter";
  ASSERT_EQ(run_tally({"build", "-q", "--kind", "counting-bloom", "-o", filter, plain}).exit_code, 0);
  const std::vector<std::vector<std::string>> commands{{"uniq", "-q"},
                                                       {"over", "2", "-q"},
                                                       {"over", "2", "-q", "-m", "1MiB"},
                                                       {"top", "5", "-q"},
                                                       {"query", "-q", filter},
                                                       {"count", "-q", filter},
                                                       {"build", "-q", "-n", "5K", "-o", "-"},
                                                       {"squid", "build", "-q", "-o", "-"},
                                                       {"plan", "-p", "1%", "--from"}};
  for (const Format& format : formats) {
    const std::string packed =
        directory.write("packed" + std::string(format.ending), run_program(format.program, text).output);
    const std::string packed_sequence = run_program(format.program, read_file(sequence)).output;
    for (std::vector<std::string> command : commands) {
      command.push_back(plain);
      const std::string expected = run_tally(command).output;
      ASSERT_FALSE(expected.empty()) << command[0];
      command.back() = packed;
      EXPECT_TRUE(run_tally(command).output == expected) << command[0] << format.ending;
      command.back() = "-";
      EXPECT_TRUE(run_tally(command, read_file(packed)).output == expected) << command[0] << format.ending;
    }
    EXPECT_EQ(run_tally({"kmers", "-q", "-k", "7", "-L", "1"}, packed_sequence).output,
              run_tally({"kmers", "-q", "-k", "7", "-L", "1", sequence}).output);
    EXPECT_EQ(run_tally({"add", "-q", filter, packed}).exit_code, 0);
    EXPECT_EQ(run_tally({"remove", "-q", filter, packed}).exit_code, 0);
  }
}

std::string each_line_once(const std::string& text) {
  std::string once;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < text.size();) {
    const std::string line = text.substr(i, text.find('\n', i) - i);
    i += line.size() + 1;
    if (seen.insert(line).second) once += line + '\n';
  }
  return once;
}

TEST(CompressedFiles, AreReadAsTheyAreIfToldSo) {
  TemporaryDirectory directory;
  for (const Format& format : formats) {
    const std::string packed = run_program(format.program, "a\nb\n").output;
    EXPECT_EQ(uniq(packed, {"--no-decompress"}), each_line_once(packed)) << format.ending;
    EXPECT_EQ(uniq("", {"--no-decompress", directory.write("packed", packed)}), each_line_once(packed));
    const std::string name = directory.write("text" + std::string(format.ending), "a\nb\n");
    EXPECT_EQ(uniq("", {"--no-decompress", name}), "a\nb\n");
    // A file large enough for two threads to read it.
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += packed.substr(0, 10) + std::to_string(i) + '\n';
    const CommandResult result =
        run_tally({"over", "1", "-q", "--no-decompress", directory.write("many", many)});
    EXPECT_TRUE(result.output == uniq(many, {"--no-decompress"})) << format.ending;
    EXPECT_THAT(run_tally({"kmers", "-k", "3", "--no-decompress", "-L", "1"}, packed).error,
                HasSubstr("not a FASTA or FASTQ file"));
  }
  EXPECT_EQ(uniq("PK\3\4\n", {"--no-decompress"}), "PK\3\4\n");
}

TEST(CompressedFiles, OfFormatsThatAreNotReadAreRefusedWithWhatTheyAre) {
  TemporaryDirectory directory;
  struct Case {
    std::string bytes;
    const char* message;
  };
  for (const Case& tried :
       std::vector<Case>{{"PK\3\4 rest", "this is a zip archive, which tally cannot read"},
                         {"7z\xbc\xaf\x27\x1c", "7z e -so"},
                         {"Rar!\x1a\7", "a rar archive"},
                         {"\x1f\x9d\x90", "'gzip -dc'"},
                         {"LZIP\1", "'lzip -dc'"},
                         {"\xff\6\0\0sNaPpY"s, "Snappy data"}}) {
    const std::string path = directory.write("file", tried.bytes);
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"uniq", path},
                                               {"kmers", "-k", "3", "-L", "1", path},
                                               {"build", "-n", "9", "-o", directory / "filter", path}}) {
      const CommandResult result = run_tally(command);
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_EQ(result.output, "");
      EXPECT_THAT(result.error,
                  AllOf(HasSubstr(path), HasSubstr(tried.message), HasSubstr("--no-decompress")));
    }
    EXPECT_THAT(run_tally({"uniq"}, tried.bytes).error, HasSubstr("standard input: this is "));
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "filter"));
}

TEST(CompressedFiles, MayHoldSeveralPieces) {
  EXPECT_EQ(uniq(gzipped("a\nb") + gzipped("") + gzipped("c\nd\n")), "a\nbc\nd\n");
  EXPECT_EQ(uniq(zstd_frame("a\nb") + zstd_frame("") + zstd_frame("c\nd\n")), "a\nbc\nd\n");
  const std::string skipped = "\x5a\x2a\x4d\x18" + little_endian(5, 4) + "12345";
  EXPECT_EQ(uniq(skipped + zstd_frame("a\n") + skipped + zstd_frame("b\n")), "a\nb\n");
  EXPECT_EQ(uniq("Z*M\n"), "Z*M\n");  // starts almost as such a piece does
}

TEST(CompressedFiles, MuchLargerThanTheyLookComeOutWhole) {
  const std::string line(1'000'000, 'x');
  std::string compressed;
  for (int i = 0; i < 10; ++i) compressed += zstd_frame_of_one_byte('x', 100'000);
  EXPECT_TRUE(uniq(compressed) == line + '\n');
  EXPECT_TRUE(uniq(gzipped(line + '\n')) == line + '\n');
  EXPECT_EQ(uniq(zstd_frame_of_one_byte('\n', 100'000)), "\n");
}

TEST(CompressedFiles, ThatEndEarlyOrAreDamagedAreErrors) {
  TemporaryDirectory directory;
  const std::string text = zipf_lines(20'000, 20'000, 0.2, 22);
  for (const std::string& whole : {gzipped(text), zstd_frame(text)}) {
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{12}, std::size_t{5}}) {
      const CommandResult result = run_tally({"uniq", "-q"}, whole.substr(0, size));
      EXPECT_EQ(result.exit_code, 2) << size;
      EXPECT_THAT(result.error, HasSubstr("standard input: the ")) << size;
      EXPECT_THAT(result.error, HasSubstr("data ends early; is the file complete?")) << size;
    }
  }
  std::string damaged = gzipped(text);
  damaged[damaged.size() / 2] ^= 0x10;
  const CommandResult gzip = run_tally({"uniq", "-q", directory.write("x", damaged)});
  EXPECT_EQ(gzip.exit_code, 2);
  EXPECT_THAT(gzip.error, AllOf(HasSubstr(directory / "x"), HasSubstr("damaged gzip data")));
  const CommandResult zstd = run_tally({"uniq", "-q"}, zstd_frame(text) + "junk");
  EXPECT_EQ(zstd.exit_code, 2);
  EXPECT_THAT(zstd.error, HasSubstr("damaged zstd data"));
}

TEST(CompressedFiles, WhoseNamePromisesItMustBe) {
  TemporaryDirectory directory;
  for (const char* name : {"x.gz", "x.zst", "x.xz", "x.bz2", "x.lz4"}) {
    for (const char* text : {"a\n", "plain text\n", ""}) {
      const CommandResult result = run_tally({"uniq", "-q", directory.write(name, text)});
      EXPECT_EQ(result.exit_code, 2) << name;
      EXPECT_THAT(result.error, AllOf(HasSubstr(name), HasSubstr("the data has another format"))) << text;
    }
  }
}

TEST(ShortInputs, ThatStartAsACompressedFileDoesAreLines) {
  EXPECT_EQ(uniq("\x1f"), "\x1f\n");
  EXPECT_EQ(uniq("\x28\n"), "\x28\n");
  EXPECT_EQ(uniq("\x28\xb5\x2f"), "\x28\xb5\x2f\n");
  EXPECT_EQ(uniq("P"), "P\n");
  EXPECT_EQ(uniq("\x1f\x8c\n"), "\x1f\x8c\n");
}

struct Selection {
  const char* delimiter;
  const char* fields;
  const char* line;
  const char* key;
};

TEST(Fields, AreTakenAsCutTakesThem) {
  const std::vector<Selection> table{
      {",", "1", "a,b,c", "a"},
      {",", "2", "a,b,c", "b"},
      {",", "3", "a,b,c", "c"},
      {",", "4", "a,b,c", ""},
      {",", "1,3", "a,b,c", "a,c"},
      {",", "3,1", "a,b,c", "a,c"},
      {",", "2-", "a,b,c", "b,c"},
      {",", "-2", "a,b,c", "a,b"},
      {",", "2-3", "a,b,c,d", "b,c"},
      {",", "1-1", "a,b", "a"},
      {",", "1,2-", "a,b,c", "a,b,c"},
      {",", "1,1,1", "a,b", "a"},
      {",", "2,4-", "a,b,c,d,e", "b,d,e"},
      {",", "-2,4", "a,b,c,d,e", "a,b,d"},
      {",", "1-3,2-4", "a,b,c,d,e", "a,b,c,d"},
      {",", "2", "no delimiter", "no delimiter"},
      {",", "5-9", "a,b", ""},
      {",", "2,9", "a,b,c", "b"},
      {",", "1", ",b", ""},
      {",", "2", "a,", ""},
      {",", "1,3", ",b,", ","},
      {",", "1,3", ",b,c", ",c"},
      {",", "1,3", "a,b,", "a,"},
      {",", "1,2", ",,", ","},
      {",", "2", "", ""},
      {" ", "2", "a  b", ""},
      {" ", "3", "a  b", "b"},
      {"x", "1,3", "1x2x3", "1x3"},
      {",", "1000000-", "a,b", ""},
      {",", "1,3,5", "a,b,c,d,e", "a,c,e"},
  };
  for (const Selection& row : table) {
    const std::string line = std::string(row.line) + '\n';
    EXPECT_EQ(uniq(line, {"-d", row.delimiter, "-f", row.fields}), std::string(row.key) + '\n')
        << row.fields << " of " << row.line;
    EXPECT_EQ(run_program({"cut", "-d", row.delimiter, "-f", row.fields}, line).output,
              std::string(row.key) + '\n')
        << row.fields << " of " << row.line;
  }
  EXPECT_EQ(uniq("a\tb c\nx\tb c\n", {"-f", "2"}), "b c\n");  // a tab, if nothing else is said
  EXPECT_EQ(uniq("1,a\0"
                 "2,a\0"s,
                 {"-z", "-d", ",", "-f", "2"}),
            "a\0"s);
}

TEST(Fields, OfManyLinesAreTheirOwn) {
  std::string input;
  std::string wanted;
  for (int i = 0; i < 20'000; ++i) {
    const std::string n = std::to_string(i);
    input += n + ",middle" + n + "," + n + n + '\n';
    wanted += n + ',' + n + n + '\n';
  }
  EXPECT_TRUE(uniq(input, {"-d", ",", "-f", "1,3"}) == wanted);
  EXPECT_EQ(run_tally({"over", "3", "-q", "-d", ",", "-f", "2"}, "1,x\n2,x\n3,y\n4,x\n5,y\n").output, "x\n");
}

TEST(Fields, RefuseAListOrADelimiterThatIsNone) {
  for (const char* list : {"0", "-", "a", "1,", ",1", "1,,2", "2-1", "1-2-3", "--1", "1.5", " 1",
                           "18446744073709551616", "18446744073709551615", "1;2", "0-2", "nan"}) {
    const CommandResult result = run_tally({"uniq", "--fields="s + list}, "a\n");
    EXPECT_EQ(result.exit_code, 2) << list;
    EXPECT_THAT(result.error, AllOf(HasSubstr("--fields is '"s + list), HasSubstr("such as 2 or 1,3")))
        << list;
  }
  const CommandResult result = run_tally({"over", "1", "--delimiter=", "-f", "1"}, "a\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("--delimiter: the value is empty"));
}

TEST(ManyKeys, OnALiveStreamAreNotHeldBack) {
  RunningCommand command({TALLY_COMMAND, "over", "2", "-q", "--line-buffered"});
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i) + '\n';
    command.write(key);
    command.write(key);
    ASSERT_EQ(command.read_line(), key);
  }
  command.close_input();
  EXPECT_EQ(command.wait().exit_code, 0);
}

}  // namespace
}  // namespace tally::test

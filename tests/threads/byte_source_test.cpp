#include "input/byte_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "input/compression.hpp"
#include "random.hpp"

namespace tally::cli {
namespace {

using namespace std::string_literals;
using test::Random;
using test::run_program;
using test::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  std::optional<std::string> bytes;
  std::string error;
};

Outcome read_in_one_way(const std::string& path, std::size_t largest_read, Decompress decompress) {
  Random random(largest_read);
  std::string bytes;
  std::string buffer;
  try {
    const auto source = ByteSource::open(path, decompress);
    while (true) {
      buffer.resize(random.between(1, largest_read));
      const std::size_t count = source->read(buffer);
      if (count == 0) return {bytes, ""};
      bytes.append(buffer, 0, count);
    }
  } catch (const std::exception& error) {
    return {std::nullopt, error.what()};
  }
}

/// What is decompressed is the same ahead of the thread that reads.
Outcome read_source(const std::string& path, std::size_t largest_read,
                    Decompress decompress = Decompress::yes) {
  const Outcome outcome = read_in_one_way(path, largest_read, decompress);
  if (decompress == Decompress::no) return outcome;
  const Outcome ahead = read_in_one_way(path, largest_read, Decompress::ahead);
  EXPECT_TRUE(ahead.bytes == outcome.bytes) << path;
  EXPECT_EQ(ahead.error, outcome.error) << path;
  return outcome;
}

using Words = std::vector<std::string>;

/// The programs that compress, with what makes them write sums by which damage is found.
const std::vector<Words> compressors{
    {"gzip", "-c"}, {"zstd", "-qc", "--check"}, {"xz", "-0c"}, {"bzip2", "-1c"}, {"lz4", "-qc"}};

std::string compressed(const Words& program, const std::string& bytes) {
  const auto result = run_program(program, bytes);
  EXPECT_EQ(result.exit_code, 0) << program[0] << ": " << result.error;
  return result.output;
}

std::string numbers(std::uint64_t count) {
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) text += std::to_string(i * i) + '\n';
  return text;
}

TEST(CompressedBytes, ComeOutAsTheyWentInWhateverIsReadAtOnce) {
  TemporaryDirectory directory;
  for (const std::string& text : {""s, "a"s, numbers(20'000), std::string(600'000, 'x')}) {
    for (const Words& program : compressors) {
      const std::string path = directory.write("file", compressed(program, text));
      EXPECT_TRUE(read_source(path, 400'000).bytes == text) << program[0] << text.size();
      EXPECT_TRUE(read_source(path, 1000).bytes == text) << program[0] << text.size();
    }
  }
}

TEST(CompressedBytes, OfSeveralPiecesAreJoined) {
  TemporaryDirectory directory;
  const std::string text = numbers(10'000);
  for (const Words& program : compressors) {
    const std::string empty = compressed(program, "");
    const std::string bytes =
        empty + compressed(program, text) + empty + empty + compressed(program, "end") + empty;
    EXPECT_TRUE(read_source(directory.write("file", bytes), 100'000).bytes == text + "end") << program[0];
  }
  const std::string padded =
      compressed({"xz", "-c"}, text) + std::string(8, '\0') + compressed({"xz", "-c"}, "end");
  EXPECT_TRUE(read_source(directory.write("file", padded), 100'000).bytes == text + "end");
}

// Every byte, and every length: an error that names the file, the right bytes, or, where it no longer starts as such a
// file does, the bytes as they are. Never others.
TEST(CompressedBytes, DamagedOrCutAnywhereAreNeverOtherBytes) {
  TemporaryDirectory directory;
  const std::string text = numbers(12);
  for (const Words& program : compressors) {
    const std::string whole = compressed(program, text);
    int num_refused = 0;
    const auto try_bytes = [&](const std::string& bytes, const std::string& what) {
      const std::string path = directory.write("file", bytes);
      const Outcome outcome = read_in_one_way(path, 64, Decompress::yes);
      if (outcome.bytes) {
        const bool starts_otherwise = compression_of(bytes).compression == nullptr;
        EXPECT_TRUE(*outcome.bytes == (starts_otherwise ? bytes : text)) << program[0] << what;
      } else {
        EXPECT_THAT(outcome.error, StartsWith(path + ": ")) << program[0] << what;
        ++num_refused;
      }
      return outcome.bytes.has_value();
    };
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string damaged = whole;
      for (const int change : {0x01, 0x80, 0xff}) {
        damaged[i] = static_cast<char>(whole[i] ^ change);
        try_bytes(damaged, " byte " + std::to_string(i));
      }
      const bool is_taken = try_bytes(whole.substr(0, i), " length " + std::to_string(i));
      if (i % 16 == 0) read_source(directory.write("file", damaged), 64);  // ahead, too
      EXPECT_TRUE(!is_taken || i < longest_magic) << program[0] << " was cut";
    }
    EXPECT_GT(num_refused, static_cast<int>(3 * whole.size())) << program[0];
  }
}

TEST(CompressedBytes, ThatEndEarlyOrGoOnWithSomethingElseSayWhatTheyAre) {
  TemporaryDirectory directory;
  const std::string text = numbers(20'000);
  for (const Words& program : compressors) {
    const std::string whole = compressed(program, text);
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{12}}) {
      const std::string path = directory.write("file", whole.substr(0, size));
      EXPECT_EQ(read_source(path, 1000).error,
                path + ": the " + program[0] + " data ends early; is the file complete?");
    }
    const std::string path = directory.write("file", whole + "something else");
    EXPECT_THAT(read_source(path, 1000).error, StartsWith(path + ": damaged " + program[0] + " data"));
  }
}

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string with_crc(const std::string& bytes) {
  boost::crc_32_type sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return bytes + little_endian(sum.checksum());
}

TEST(CompressedBytes, ThatTakeTooMuchMemoryAreRefused) {
  TemporaryDirectory directory;
  // A block whose dictionary is 1 GiB (The .xz File Format, 3.1 and 5.3.1).
  const std::string xz = "\xfd"s + "7zXZ\0"s + with_crc("\0\1"s) + with_crc("\2\0\x21\1\x24\0\0\0"s);
  const Outcome outcome = read_source(directory.write("large.xz", xz + std::string(100, '\1')), 1000);
  EXPECT_THAT(outcome.error,
              AllOf(StartsWith(directory / "large.xz"), HasSubstr("1.00 GiB of memory to decompress"),
                    HasSubstr("256.0 MiB"), EndsWith("with 'xz -dc' and a pipe")));
  // A frame whose window is 2 GiB (RFC 8878, 3.1.1.1.2).
  const std::string zstd = "\x28\xb5\x2f\xfd\0\xa8"s + std::string(100, '\1');
  EXPECT_THAT(read_source(directory.write("large.zst", zstd), 1000).error,
              AllOf(StartsWith(directory / "large.zst"), HasSubstr("more than 128 MiB of memory"),
                    EndsWith("with 'zstd -dc --long=31' and a pipe")));
}

TEST(Magics, TellWhatIsReadAndWhatIsNot) {
  struct Case {
    std::string start;
    std::string name;
    bool is_read;
  };
  for (const Case& tried : std::vector<Case>{{"\x1f\x8b\x08", "gzip", true},
                                             {"\x28\xb5\x2f\xfd", "zstd", true},
                                             {"\x5a\x2a\x4d\x18", "zstd", true},
                                             {"\xfd"s + "7zXZ\0"s, "xz", true},
                                             {"BZh1\x31\x41\x59\x26\x53\x59", "bzip2", true},
                                             {"BZh9\x17\x72\x45\x38\x50\x90", "bzip2", true},
                                             {"\x04\x22\x4d\x18", "lz4", true},
                                             {"\x02\x21\x4c\x18", "lz4 data of the old format", false},
                                             {"\x25\xb5\x2f\xfd", "zstd data of a format before 1.0", false},
                                             {"]\0\0\x80"s, "lzma data (.lzma)", false},
                                             {"LZIP\x01", "lzip data", false},
                                             {"\x89LZO\0\r\n\x1a\n"s, "lzop data", false},
                                             {"LRZI\0"s, "lrzip data", false},
                                             {"\xff\6\0\0sNaPpY"s, "Snappy data", false},
                                             {"\x1f\x9d\x90", "data of compress (.Z)", false},
                                             {"\x1f\xa0", "data of compress -H", false},
                                             {"\x1f\x1e", "data of pack (.z)", false},
                                             {"PK\3\4", "a zip archive", false},
                                             {"PK\5\6", "a zip archive", false},
                                             {"PK\7\10", "a zip archive", false},
                                             {"7z\xbc\xaf\x27\x1c", "a 7z archive", false},
                                             {"Rar!\x1a\7", "a rar archive", false},
                                             {"MSCF\0\0\0\0"s, "a cab archive", false}}) {
    const ToldByStart told = compression_of(tried.start);
    ASSERT_NE(told.compression, nullptr) << tried.name;
    EXPECT_EQ(told.compression->name, tried.name);
    EXPECT_EQ(told.compression->make_decoder != nullptr, tried.is_read) << tried.name;
    EXPECT_EQ(told.compression->unpack.empty(), tried.is_read) << tried.name;
    EXPECT_LE(told.compression->magic.size(), longest_magic);
    // No byte less would tell.
    const ToldByStart cut =
        compression_of(std::string_view(tried.start).substr(0, told.compression->magic.size() - 1));
    EXPECT_EQ(cut.compression, nullptr) << tried.name;
    EXPECT_TRUE(cut.may_be_longer) << tried.name;
  }
  for (const std::string& text :
       {"a"s, "BZhang\n"s, "BZh9 lines"s, "Rar"s + "e\n", "PK\n"s, "LZIP\n"s, "(text)"s}) {
    EXPECT_EQ(compression_of(text).compression, nullptr) << text;
    EXPECT_FALSE(compression_of(text).may_be_longer && text.size() >= longest_magic) << text;
  }
}

}  // namespace
}  // namespace tally::cli

#include "kmers/sequence_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "command_runner.hpp"
#include "random.hpp"
#include "sequence_oracle.hpp"

namespace tally::cli {
namespace {

using test::Random;
using test::sequences_of;
using test::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A text, cut into reads of random sizes.
class CutText : public ByteSource {
 public:
  CutText(std::string text, std::size_t largest_read, std::uint64_t seed)
      : text_(std::move(text)), largest_read_(largest_read), random_(seed) {}

  std::size_t read(std::span<char> into) override {
    const std::size_t count =
        std::min({into.size(), text_.size() - num_read_, random_.between(1, largest_read_)});
    std::memcpy(into.data(), text_.data() + num_read_, count);
    num_read_ += count;
    return count;
  }
  std::uint64_t file_bytes_read() const noexcept override { return num_read_; }

 private:
  std::string text_;
  std::size_t largest_read_;
  Random random_;
  std::size_t num_read_ = 0;
};

char upper_base(char letter) {
  const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return std::string_view("ACGT").find(upper) == std::string_view::npos ? '\n' : upper;
}

/// Every sequence after a '\n', with '\n' for what is no base.
std::string bases_of(std::vector<std::string> sequences) {
  std::string bases;
  for (std::string& sequence : sequences) {
    std::transform(sequence.begin(), sequence.end(), sequence.begin(), upper_base);
    bases += '\n' + sequence;
  }
  return bases;
}

struct ReadResult {
  std::optional<std::string> bases;
  std::string error;
  std::uint64_t num_sequences = 0;
};

ReadResult read_all(const std::string& text, std::size_t largest_read, std::size_t largest_piece,
                    std::uint64_t seed) {
  Random random(seed);
  SequenceFile file(std::make_unique<CutText>(text, largest_read, seed), "file");
  std::string bases;
  try {
    while (file.read(bases, bases.size() + random.between(1, largest_piece))) {
    }
  } catch (const std::runtime_error& error) {
    return {std::nullopt, error.what()};
  }
  return {bases, "", file.num_sequences()};
}

/// Files as programs write them and as they should not be: lines of any length, CRLF, blank lines, a missing end; and
/// then, in some of them, a few bytes changed.
class RandomFiles {
 public:
  explicit RandomFiles(std::uint64_t seed) : random_(seed) {}

  std::string next() {
    text_.clear();
    newline_ = random_.below(4) == 0 ? "\r\n" : "\n";
    const bool is_fastq = random_.below(2) == 0;
    const bool is_mixed = random_.below(10) == 0;
    for (std::uint64_t left = random_.below(5); left > 0; --left)
      add_record(is_mixed ? random_.below(2) == 0 : is_fastq);
    if (random_.below(4) == 0 && !text_.empty()) text_.pop_back();
    if (random_.below(2) == 0) damage();
    return text_;
  }

 private:
  void add_record(bool is_fastq) {
    text_ += is_fastq ? "@name" : ">name";
    if (random_.below(3) == 0) text_ += " >@+ text";
    text_ += newline_;
    const std::uint64_t size = random_.below(random_.below(3) == 0 ? 3 : 60);
    const std::uint64_t width = random_.below(2) == 0 ? 100 : random_.between(1, 20);
    add_lines(letters("ACGTacgtACGTACGTNRnr-*. ", size), width);
    if (is_fastq) {
      text_ += random_.below(3) == 0 ? "+name" : "+";
      text_ += newline_;
      add_lines(letters("!\"#$%+@>IIJKACGT~", size), random_.below(2) == 0 ? width : random_.between(1, 20));
    }
    if (random_.below(10) == 0) text_ += newline_;
  }
  std::string letters(std::string_view alphabet, std::uint64_t size) {
    std::string some;
    while (some.size() < size) some += alphabet[random_.below(alphabet.size())];
    return some;
  }
  void add_lines(const std::string& letters, std::uint64_t width) {
    for (std::size_t i = 0; i < letters.size(); i += width) {
      text_ += letters.substr(i, width) + newline_;
      if (random_.below(20) == 0) text_ += newline_;
    }
    if (letters.empty()) text_ += newline_;
  }
  void damage() {
    for (std::uint64_t left = random_.between(1, 2); left > 0 && !text_.empty(); --left) {
      const std::size_t at = random_.below(text_.size());
      const char byte = "\n\r>@+AN "[random_.below(8)];
      switch (random_.below(4)) {
        case 0:
          text_.erase(at, random_.between(1, 5));
          break;
        case 1:
          text_.insert(at, 1, byte);
          break;
        case 2:
          text_[at] = byte;
          break;
        default:
          text_.resize(at);
      }
    }
  }

  Random random_;
  std::string text_;
  std::string newline_;
};

TEST(SequenceFile, GivesTheBasesThatReadingTheWholeTextGivesHoweverItIsCut) {
  RandomFiles files(31);
  Random random(32);
  int num_refused = 0;
  constexpr int num_files = 6'000;
  for (int i = 0; i < num_files; ++i) {
    const std::string text = files.next();
    const auto expected = sequences_of(text);
    const ReadResult result = read_all(text, random.between(1, 40), random.between(1, 50), random.next());
    ASSERT_EQ(result.bases.has_value(), expected.has_value()) << text << '\n' << result.error;
    if (expected) {
      ASSERT_EQ(*result.bases, bases_of(*expected)) << text;
      ASSERT_EQ(result.num_sequences, expected->size()) << text;
    } else {
      ASSERT_THAT(result.error, StartsWith("file, line "));
      ++num_refused;
    }
  }
  // Both kinds were tried often.
  EXPECT_GT(num_refused, num_files / 10);
  EXPECT_LT(num_refused, num_files / 2);
}

TEST(SequenceFile, TakesEveryByteAsItsLetterIsTaken) {
  std::string text = ">all bytes\nA";
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != '\n') text += static_cast<char>(byte);
  }
  const auto expected = sequences_of(text + "A\n");
  ASSERT_TRUE(expected.has_value());
  EXPECT_EQ(read_all(text + "A\n", 1000, 1000, 1).bases, bases_of(*expected));
  EXPECT_EQ(read_all(text + "A\n", 1, 1, 1).bases, bases_of(*expected));
}

TEST(SequenceFile, SaysInWhichLineWhatIsWrong) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& tried :
       std::vector<Case>{{"\n\nhello\n", "line 3: not a FASTA or FASTQ file"},
                         {"@a\nAC\n+\nII\n@b\nACGT\n+\nIII\n",
                          "line 5: the quality of the record 'b' is missing, cut off, or not as "
                          "long as its sequence: 3 characters for 4 bases"},
                         {"@a\nAC\n+\nIII\n",
                          "line 1: the quality of the record 'a' is missing, cut off, or not as long as its "
                          "sequence: 3 characters for 2 bases"},
                         {"@a\nAC\n+\nI\nII\n", "3 characters for 2 bases"},
                         {"@a\nAC\n+\nII\nII\n@b\n",
                          "line 5: a record must begin with '@' or '>'; is the quality of the record 'a', "
                          "in line 1, longer than its sequence?"},
                         {">a\nAC\n@b name\nAC\n", "line 3: the quality of the record 'b' is missing"},
                         {"@a\nAC\n>b\nAC\n", "line 1: the quality of the record 'a' is missing"},
                         {"@a\nAC\n+", "line 1: the quality of the record 'a' is missing"},
                         {"@a\nAC\n+\n", "0 characters for 2 bases"},
                         {"@a", "line 1: the quality of the record 'a' is missing"}}) {
    const ReadResult result = read_all(tried.text, 3, 3, 1);
    EXPECT_THAT(result.error, AllOf(StartsWith("file, line "), HasSubstr(tried.message))) << tried.text;
  }
  const std::string long_name(1'000'000, 'n');
  EXPECT_LT(read_all("@" + long_name + "\nA\n", 100'000, 100, 1).error.size(), 300U);
}

/// A multiset of texts, as good as compared.
struct Multiset {
  std::uint64_t count = 0;
  std::uint64_t sum_of_hashes = 0;

  void add_kmers(std::string_view bases, std::size_t length) {
    std::size_t window = 0;
    for (std::size_t end = 1; end <= bases.size(); ++end) {
      window = bases[end - 1] == '\n' ? 0 : window + 1;
      if (window < length) continue;
      ++count;
      sum_of_hashes += std::hash<std::string_view>()(bases.substr(end - length, length));
    }
  }
  bool operator==(const Multiset&) const = default;
};

TEST(SequenceReader, EveryKmerIsInExactlyOnePieceOfOneThread) {
  TemporaryDirectory directory;
  Random random(41);
  std::vector<std::string> files;
  std::string bases;
  for (int f = 0; f < 3; ++f) {
    std::string text;
    std::vector<std::string> sequences;
    for (const std::uint64_t size : {200'000, 10, 0, 70'000, 65'536, 300, 1, 5'000}) {
      std::string sequence;
      for (std::uint64_t i = 0; i < size; ++i)
        sequence += random.below(3000) == 0 ? 'N' : "ACGT"[random.below(4)];
      text += f == 1 ? "@r\n" + sequence + "\n+\n" + std::string(size, '@') + '\n' : ">r\n" + sequence + '\n';
      sequences.push_back(sequence);
    }
    files.push_back(directory.write("file" + std::to_string(f), text));
    bases += bases_of(sequences);
  }
  for (const std::uint32_t length : {1, 2, 31, 64}) {
    Multiset expected;
    expected.add_kmers(bases, length);
    for (const int num_threads : {1, 3}) {
      SequenceReader reader(files, length, Decompress::yes);
      std::mutex alone;
      Multiset found;
      {
        std::vector<std::jthread> threads;
        for (int t = 0; t < num_threads; ++t) {
          threads.emplace_back([&] {
            std::string piece;
            while (reader.next(piece)) {
              const std::lock_guard guard(alone);
              EXPECT_LT(piece.size(), 100'000U);
              found.add_kmers(piece, length);
            }
          });
        }
      }
      EXPECT_TRUE(found == expected) << length << ' ' << num_threads << ' ' << found.count;
      EXPECT_EQ(reader.num_sequences(), 24U);
      EXPECT_EQ(reader.num_bases(), 3U * (200'000 + 10 + 70'000 + 65'536 + 300 + 1 + 5'000));
    }
  }
}

TEST(SequenceReader, AfterAnErrorNoThreadReadsOn) {
  TemporaryDirectory directory;
  std::string records;
  for (int i = 0; i < 3; ++i) records += "@r\nACGT\n+\nIIII\n";
  const std::string damaged = directory.write("damaged", records + "no record\n" + records);
  const std::string whole = directory.write("whole", records);
  SequenceReader reader({damaged, whole}, 4, Decompress::yes);
  std::string piece;
  EXPECT_THROW((void)reader.next(piece), std::runtime_error);
  EXPECT_FALSE(reader.next(piece));
}

}  // namespace
}  // namespace tally::cli

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input/byte_source.hpp"

namespace tally::cli {

/// The bases of one FASTA or FASTQ file. Of a record of any length, it stores only the start of its name and
/// the lengths of its sequence and its quality.
///
/// A record begins with a line that starts with '>' or '@'. The lines after it are its sequence, up to a line
/// that starts with '>', '@' or '+', or the end. The rest of the '+' line is ignored. The lines after it are
/// the quality, whatever they contain, until together they are as long as the sequence, but at least one
/// line. A record that starts with '@', and every record of a file whose first record does, has a quality.
/// Lines may end in CRLF, and sequences may be empty. White space before a record is allowed.
class SequenceFile {
 public:
  /// `name` is the name in errors.
  SequenceFile(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)), buffer_(buffer_bytes) {}

  /// Appends to `bases` until they are `size`: A, C, G and T in upper case, and '\n' for everything that ends
  /// a window, such as the beginning of a sequence. Returns false at the end of the file, or if SIGINT or
  /// SIGTERM ended it. Throws what ByteSource throws, and std::runtime_error that names the file, line and
  /// record if it is not valid FASTA or FASTQ.
  bool read(std::string& bases, std::size_t size);

  /// The number of letters of sequences, valid bases or not, and of records so far.
  std::uint64_t num_bases() const noexcept { return num_bases_; }
  std::uint64_t num_sequences() const noexcept { return num_sequences_; }
  std::uint64_t bytes_read() const noexcept { return source_->file_bytes_read(); }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

  enum class Place : std::uint8_t { between_records, header, line_of_sequence, sequence, plus_line, quality };

  /// A part of a line, without the newline.
  struct Part {
    const char* begin;
    std::size_t size;
    bool ends_line;
  };

  void step(char*& out, const char* out_end);
  Part take_part(std::size_t most);
  void begin_record(char*& out);
  void take_header();
  void take_sequence(char*& out, const char* out_end);
  void take_quality();
  void add_length(const Part& part, std::uint64_t& length);
  void end_line(std::uint64_t& length);
  void end_record(bool has_quality);
  void end_file();
  [[noreturn]] void fail_between_records() const;
  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of the unread part
  std::size_t end_ = 0;

  Place place_ = Place::between_records;
  std::uint64_t num_lines_ = 0;  // complete lines read
  bool ends_in_cr_ = false;      // the part of the current line read so far
  bool begins_as_fastq_ = false;

  // Fields of the current record.
  std::uint64_t record_line_ = 0;
  std::string record_name_;
  bool has_whole_name_ = false;
  bool needs_quality_ = false;
  std::uint64_t sequence_length_ = 0;
  std::uint64_t quality_length_ = 0;

  std::uint64_t num_bases_ = 0;
  std::uint64_t num_sequences_ = 0;
};

}  // namespace tally::cli

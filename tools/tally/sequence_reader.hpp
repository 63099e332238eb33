#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::cli {

/// The bases of FASTA and FASTQ files, plain, gzip or BGZF ('-': standard input), in pieces of bounded size
/// however long a sequence is. Threads share one reader and take turns: whoever wants a piece reads it.
///
/// A sequence may go over many lines, end in CRLF, be empty, or hold anything but A, C, G and T, which ends the
/// window of a k-mer, as the end of a sequence does. SIGINT and SIGTERM end the input.
class SequenceReader {
 public:
  /// Called in turns, never twice at once, with the bases read and bytes taken from the files so far.
  using OnPiece = std::function<void(std::uint64_t num_bases, std::uint64_t bytes_read)>;

  /// Opens nothing yet. Pieces overlap by kmer_length - 1 bases, so that every k-mer is in exactly one.
  SequenceReader(std::vector<std::string> files, std::uint32_t kmer_length, OnPiece on_piece = nullptr);
  ~SequenceReader();

  /// The next piece: A, C, G, T in upper case, and '\n' where a window ends; false at the end of the input.
  /// Throws std::system_error that names the file where reading fails, and std::runtime_error where compressed
  /// data is damaged or ends early, or what is read is no FASTA or FASTQ: with file and line.
  bool next(std::string& bases);

  /// Makes `next` return false from now on, in every thread.
  void stop() noexcept { stopped_ = true; }

  std::uint64_t num_bases() const noexcept { return num_bases_; }
  std::uint64_t num_sequences() const noexcept { return num_sequences_; }
  /// Of all files; nothing where one of them is no regular file.
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

 private:
  class CompressedFile;
  enum class Format : std::uint8_t { unknown, fasta, fastq };
  enum class Part : std::uint8_t { between, header, sequence, separator, quality };

  bool fill();
  void open_next_file();
  void finish_file();
  void take_line_piece(std::string_view piece, bool ends_line, std::string& bases);
  void begin_line(char first);
  void append(std::string_view piece, std::string& bases);
  [[noreturn]] void fail(const std::string& what) const;

  std::mutex turn_;
  std::atomic<bool> stopped_ = false;
  OnPiece on_piece_;
  std::uint32_t overlap_;

  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::optional<std::uint64_t> total_bytes_;
  std::uint64_t finished_bytes_ = 0;
  std::unique_ptr<CompressedFile> file_;

  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;

  Format format_ = Format::unknown;
  Part part_ = Part::between;
  bool at_line_start_ = true;
  bool ends_window_ = false;  // before the next base
  std::uint64_t line_ = 1;
  std::uint64_t sequence_length_ = 0;  // of a FASTQ record, white space left out, as is the next
  std::uint64_t quality_length_ = 0;

  std::string carry_;
  std::uint64_t num_bases_ = 0;
  std::uint64_t num_sequences_ = 0;
};

}  // namespace tally::cli

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "input/byte_source.hpp"
#include "kmers/sequence_file.hpp"

namespace tally::cli {

/// The bases of FASTA and FASTQ files ('-': standard input), decompressed as ByteSource does, in pieces of
/// bounded size, for sequences of any length. Threads share one reader and take turns: the thread that needs
/// a piece reads it.
///
/// A sequence may extend over several lines, end in CRLF, or be empty. Any byte other than A, C, G and T ends
/// the window of a k-mer, and so does the end of a sequence. Signals that ask to stop end the input.
class SequenceReader {
 public:
  /// Called in turns, never concurrently, with the bases read and the bytes read from the files so far.
  using OnPiece = std::function<void(std::uint64_t num_bases, std::uint64_t bytes_read)>;

  /// Opens nothing yet. Pieces overlap by kmer_length - 1 bases, so that every k-mer is in exactly one.
  /// Throws std::invalid_argument if standard output is one of the files.
  SequenceReader(std::vector<std::string> files, std::uint32_t kmer_length, Decompress decompress,
                 OnPiece on_piece = nullptr);

  /// The next piece: A, C, G, T in upper case, and '\n' where a window ends; returns false at the end of the
  /// input. Throws what SequenceFile throws, once: every later call, in any thread, returns false.
  bool next(std::string& bases);

  /// Makes `next` return false from now on, in every thread.
  void stop() noexcept { stopped_ = true; }

  std::uint64_t num_bases() const noexcept { return finished_.num_bases + (file_ ? file_->num_bases() : 0); }
  /// The number of files that have been opened: that of the one which is read, from 1.
  std::size_t file_number() const noexcept { return next_file_; }
  std::size_t num_files() const noexcept { return files_.size(); }
  std::uint64_t num_sequences() const noexcept {
    return finished_.num_sequences + (file_ ? file_->num_sequences() : 0);
  }
  /// The size of all files; empty if one of them is not a regular file.
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

 private:
  struct Totals {
    std::uint64_t num_bases = 0;
    std::uint64_t num_sequences = 0;
    std::uint64_t num_bytes = 0;
  };

  bool has_file();
  void finish_file();

  std::mutex turn_;
  std::atomic<bool> stopped_ = false;
  OnPiece on_piece_;
  std::size_t overlap_;
  Decompress decompress_;

  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::optional<std::uint64_t> total_bytes_;
  Totals finished_;  // files
  std::unique_ptr<SequenceFile> file_;
  std::string overlap_bases_;  // the last bases of the previous piece
};

}  // namespace tally::cli

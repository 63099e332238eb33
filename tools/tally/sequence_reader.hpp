#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tally::cli {

/// The bases of FASTA and FASTQ files ('-': standard input), decompressed as ByteSource does, in pieces of bounded
/// size. Threads share one reader and take turns: whoever wants a piece reads it. htslib's kseq.h parses, and has
/// a whole sequence in memory.
///
/// A sequence may go over many lines, end in CRLF, be empty, or hold anything but A, C, G and T, which ends the
/// window of a k-mer, as the end of a sequence does. Signals that ask to stop end the input.
class SequenceReader {
 public:
  /// Called in turns, never twice at once, with the bases read and bytes taken from the files so far.
  using OnPiece = std::function<void(std::uint64_t num_bases, std::uint64_t bytes_read)>;

  /// Opens nothing yet. Pieces overlap by kmer_length - 1 bases, so that every k-mer is in exactly one.
  SequenceReader(std::vector<std::string> files, std::uint32_t kmer_length, OnPiece on_piece = nullptr);
  ~SequenceReader();

  /// The next piece: A, C, G, T in upper case, and '\n' where a window ends; false at the end of the input.
  /// Throws what ByteSource does, and std::runtime_error that names the file where it is no FASTA or FASTQ.
  bool next(std::string& bases);

  /// Makes `next` return false from now on, in every thread.
  void stop() noexcept { stopped_ = true; }

  std::uint64_t num_bases() const noexcept { return num_bases_; }
  std::uint64_t num_sequences() const noexcept { return num_sequences_; }
  /// Of all files; nothing where one of them is no regular file.
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

 private:
  class File;

  bool next_sequence();

  std::mutex turn_;
  std::atomic<bool> stopped_ = false;
  OnPiece on_piece_;
  std::size_t overlap_;

  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::optional<std::uint64_t> total_bytes_;
  std::uint64_t finished_bytes_ = 0;
  std::unique_ptr<File> file_;

  std::string sequence_;
  std::size_t next_base_ = 0;
  std::uint64_t num_bases_ = 0;
  std::uint64_t num_sequences_ = 0;
};

}  // namespace tally::cli

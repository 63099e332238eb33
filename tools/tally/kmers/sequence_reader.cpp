#include "kmers/sequence_reader.hpp"

#include <algorithm>
#include <utility>

#include "cli/signals.hpp"
#include "input/input_is_output.hpp"

namespace tally::cli {

SequenceReader::SequenceReader(std::vector<std::string> files, std::uint32_t kmer_length,
                               Decompress decompress, OnPiece on_piece)
    : on_piece_(std::move(on_piece)),
      overlap_(kmer_length - 1),
      decompress_(decompress),
      files_(files.empty() ? std::vector<std::string>{"-"} : std::move(files)),
      total_bytes_(total_size_of(files_)) {
  refuse_input_as_standard_output(files_);
}

bool SequenceReader::next(std::string& bases) {
  constexpr std::size_t bases_per_piece = std::size_t{32} << 10;
  const std::lock_guard turn(turn_);
  bases = overlap_bases_;  // without a complete k-mer
  try {
    while (bases.size() < bases_per_piece + overlap_ && !stopped_ && has_file()) {
      if (!file_->read(bases, bases_per_piece + overlap_)) finish_file();
    }
  } catch (...) {
    stop();  // before another thread has its turn: bytes after damage are not a sequence
    throw;
  }
  if (stopped_ || bases.size() == overlap_bases_.size()) return false;
  overlap_bases_.assign(bases, bases.size() - std::min(overlap_, bases.size()));
  if (on_piece_) on_piece_(num_bases(), finished_.num_bytes + (file_ ? file_->bytes_read() : 0));
  return true;
}

/// Opens the next file if none is open; returns false after the last one.
bool SequenceReader::has_file() {
  if (file_) return true;
  if (next_file_ == files_.size() || stop_requested()) return false;
  const std::string& path = files_[next_file_++];
  file_ = std::make_unique<SequenceFile>(ByteSource::open(path, decompress_),
                                         path == "-" ? "standard input" : path);
  return true;
}

void SequenceReader::finish_file() {
  finished_.num_bases += file_->num_bases();
  finished_.num_sequences += file_->num_sequences();
  finished_.num_bytes += file_->bytes_read();
  file_.reset();
}

}  // namespace tally::cli

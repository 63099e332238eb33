#include "sequence_reader.hpp"

#include <fmt/format.h>
#include <htslib/kseq.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>

#include "byte_source.hpp"
#include "kmer_scanner.hpp"
#include "signals.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t bases_a_piece = std::size_t{64} << 10;

// What kseq reads from.
struct Bytes {
  std::unique_ptr<ByteSource> source;
  char first = '\0';  // that is no white space
};

int read_bytes(Bytes* bytes, void* into, std::size_t size) {
  const std::span<char> buffer(static_cast<char*>(into), size);
  const std::size_t count = bytes->source->read(buffer);
  for (std::size_t i = 0; i < count && bytes->first == '\0'; ++i) {
    if (buffer[i] > ' ') bytes->first = buffer[i];
  }
  return static_cast<int>(count);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
KSEQ_INIT(Bytes*, read_bytes)
#pragma GCC diagnostic pop

constexpr int ends = -1;             // of kseq_read: no more sequences
constexpr int has_bad_quality = -2;  // not as long as its sequence, or cut

}  // namespace

class SequenceReader::File {
 public:
  explicit File(const std::string& path)
      : name_(path == "-" ? "standard input" : path),
        bytes_{ByteSource::open(path)},
        kseq_(kseq_init(&bytes_)) {
    if (kseq_ == nullptr) throw std::bad_alloc();
  }
  ~File() { kseq_destroy(kseq_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// False at the end.
  bool next(std::string_view& sequence) {
    const auto length = kseq_read(kseq_);
    if (stop_requested()) return false;
    if (bytes_.first != '\0' && bytes_.first != '>' && bytes_.first != '@') {
      throw std::runtime_error(
          name_ + ": this is no FASTA or FASTQ, plain or compressed: it begins with neither '>' nor '@'");
    }
    if (length == ends) return false;
    // After a whole FASTQ record kseq has not seen the next header yet; after one without quality it has, or the end.
    const bool lacks_quality = bytes_.first == '@' && kseq_->last_char != 0;
    if (length == has_bad_quality || lacks_quality) {
      throw std::runtime_error(
          fmt::format("{}: the quality of the record '{}' is missing, cut, or not as long as its "
                      "sequence; is the file complete?",
                      name_, std::string_view(kseq_->name.s, kseq_->name.l)));
    }
    sequence = {kseq_->seq.s, kseq_->seq.l};
    return true;
  }

  std::uint64_t bytes_read() const noexcept { return bytes_.source->file_bytes_read(); }

 private:
  std::string name_;
  Bytes bytes_;
  kseq_t* kseq_;
};

SequenceReader::SequenceReader(std::vector<std::string> files, std::uint32_t kmer_length, OnPiece on_piece)
    : on_piece_(std::move(on_piece)),
      overlap_(kmer_length - 1),
      files_(files.empty() ? std::vector<std::string>{"-"} : std::move(files)),
      total_bytes_(total_size_of(files_)) {}

SequenceReader::~SequenceReader() = default;

bool SequenceReader::next(std::string& bases) {
  const std::lock_guard turn(turn_);
  bases.clear();
  while (bases.size() < bases_a_piece + overlap_ && !stopped_) {
    if (next_base_ == sequence_.size()) {
      if (!next_sequence()) break;
      if (!bases.empty()) bases += '\n';
    }
    const std::size_t count =
        std::min(bases_a_piece + overlap_ - bases.size(), sequence_.size() - next_base_);
    bases.append(sequence_, next_base_, count);
    next_base_ += count;
  }
  // The k-mers that begin among the last bases are in the next piece.
  if (next_base_ < sequence_.size()) next_base_ -= std::min(overlap_, next_base_);
  if (stopped_ || bases.empty()) return false;
  if (on_piece_) on_piece_(num_bases_, finished_bytes_ + (file_ ? file_->bytes_read() : 0));
  return true;
}

/// Reads the next one that is not empty, in the next file where one has ended; false at the end of the last one.
bool SequenceReader::next_sequence() {
  next_base_ = 0;
  sequence_.clear();
  std::string_view text;
  while (sequence_.empty()) {
    if (file_ == nullptr) {
      if (next_file_ == files_.size() || stop_requested()) return false;
      file_ = std::make_unique<File>(files_[next_file_++]);
    }
    if (!file_->next(text)) {
      finished_bytes_ += file_->bytes_read();
      file_.reset();
      continue;
    }
    ++num_sequences_;
    sequence_.resize(text.size());
    char* out = sequence_.data();
    for (const char byte : text) {
      const char base = base_of_byte[static_cast<unsigned char>(byte)];
      *out = base;
      out += base != '\0';
    }
    sequence_.resize(static_cast<std::size_t>(out - sequence_.data()));
    num_bases_ += sequence_.size();
  }
  return true;
}

}  // namespace tally::cli

#include "sequence_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "byte_source.hpp"
#include "kmer_scanner.hpp"
#include "signals.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
constexpr std::size_t bases_a_piece = std::size_t{64} << 10;
constexpr int poll_milliseconds = 100;

bool is_graphic(char c) { return c > ' '; }

/// Copies what comes from a pipe or a terminal to a pipe of its own, until its end or until it is told to stop:
/// htslib would go on waiting after a signal.
class Pump {
 public:
  explicit Pump(int source) : source_(source) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    into_ = ends[1];
    output_ = ends[0];
    thread_ = std::jthread([this](const std::stop_token& stop) { copy(stop); });
  }

  /// Where to read it; the reader closes it.
  int output() const noexcept { return output_; }

 private:
  void copy(const std::stop_token& stop) const {
    std::vector<char> bytes(buffer_bytes);
    bool is_open = true;
    while (is_open && !stop.stop_requested() && !stop_requested()) {
      pollfd polled{source_, POLLIN, 0};
      if (::poll(&polled, 1, poll_milliseconds) <= 0) continue;
      const ssize_t count = ::read(source_, bytes.data(), bytes.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      is_open = count > 0 && write_all({bytes.data(), static_cast<std::size_t>(count)});
    }
    ::close(into_);
    ::close(source_);
  }
  bool write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(into_, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) return false;
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    }
    return true;
  }

  int source_;
  int into_ = -1;
  int output_ = -1;
  std::jthread thread_;
};

}  // namespace

/// A file that htslib decompresses as it is read.
class SequenceReader::CompressedFile {
 public:
  explicit CompressedFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
    hts_set_log_level(HTS_LOG_OFF);  // what is wrong is said here
    // Not blocking: a named pipe without a writer is waited for by the pump.
    int file = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) fail(errno);
    struct stat status {};
    if (::fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) {
      ::close(file);
      fail(EISDIR);
    }
    if (!S_ISREG(status.st_mode)) {
      pump_.emplace(file);
      file = pump_->output();
    }
    file_ = ::bgzf_dopen(file, "r");
    if (file_ == nullptr) {
      const int reason = errno;
      ::close(file);
      fail(reason);
    }
    const bool is_empty = S_ISREG(status.st_mode) && status.st_size == 0;
    if (path.ends_with(".gz") && ::bgzf_compression(file_) == 0 && !is_empty && !stop_requested()) {
      close();
      throw std::runtime_error(path + ": the name ends in .gz but the data is not compressed so; rename it");
    }
  }
  ~CompressedFile() { close(); }
  CompressedFile(const CompressedFile&) = delete;
  CompressedFile& operator=(const CompressedFile&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// 0 at the end.
  std::size_t read(char* into, std::size_t size) {
    if (stop_requested() && !pump_) return 0;
    const ssize_t count = ::bgzf_read(file_, into, size);
    if (count > 0) return static_cast<std::size_t>(count);
    if (stop_requested()) return 0;
    if (count < 0 && ::bgzf_compression(file_) == 0) fail(errno);
    if (count < 0) throw damaged("is damaged or ends early");
    constexpr int bgzf = 2;  // of bgzf_compression
    if (::bgzf_compression(file_) == bgzf && file_->no_eof_block) throw damaged("ends early");
    return 0;
  }

  std::uint64_t bytes_read() const noexcept { return static_cast<std::uint64_t>(::htell(file_->fp)); }

 private:
  void close() {
    if (::bgzf_close(file_) != 0) {
    }  // nothing was written
  }
  [[noreturn]] void fail(int reason) const {
    throw std::system_error(reason, std::generic_category(), name_);
  }
  std::runtime_error damaged(const char* what) const {
    return std::runtime_error(fmt::format("{}: the gzip data {}; is the file complete?", name_, what));
  }

  std::string name_;
  std::optional<Pump> pump_;
  BGZF* file_ = nullptr;
};

SequenceReader::SequenceReader(std::vector<std::string> files, std::uint32_t kmer_length, OnPiece on_piece)
    : on_piece_(std::move(on_piece)),
      overlap_(kmer_length - 1),
      files_(files.empty() ? std::vector<std::string>{"-"} : std::move(files)),
      total_bytes_(0),
      buffer_(buffer_bytes) {
  for (const std::string& file : files_) {
    const std::optional<std::uint64_t> size = file_size_of(file);
    total_bytes_ = size && total_bytes_ ? std::optional(*total_bytes_ + *size) : std::nullopt;
  }
}

SequenceReader::~SequenceReader() = default;

bool SequenceReader::next(std::string& bases) {
  const std::lock_guard turn(turn_);
  bases = carry_;
  while (bases.size() < bases_a_piece + carry_.size() && !stopped_) {
    if (begin_ == end_ && !fill()) break;
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const std::size_t line_end = rest.find('\n');
    const std::string_view piece = rest.substr(0, line_end);
    take_line_piece(piece, line_end != rest.npos, bases);
    begin_ += piece.size() + (line_end != rest.npos);
  }
  if (stopped_ || bases.size() == carry_.size()) return false;
  carry_ = bases.substr(bases.size() - std::min<std::size_t>(overlap_, bases.size()));
  if (on_piece_) on_piece_(num_bases_, finished_bytes_ + (file_ ? file_->bytes_read() : 0));
  return true;
}

/// Reads on, in the next file where one has ended; false at the end of the last one.
bool SequenceReader::fill() {
  while (true) {
    if (file_ == nullptr) {
      if (next_file_ == files_.size() || stop_requested()) return false;
      open_next_file();
    }
    begin_ = 0;
    end_ = file_->read(buffer_.data(), buffer_.size());
    if (end_ > 0) return true;
    finish_file();
  }
}

void SequenceReader::open_next_file() {
  file_ = std::make_unique<CompressedFile>(files_[next_file_++]);
  format_ = Format::unknown;
  part_ = Part::between;
  at_line_start_ = true;
  ends_window_ = true;
  line_ = 1;
}

void SequenceReader::finish_file() {
  const bool is_whole = format_ != Format::fastq || part_ == Part::between ||
                        (part_ == Part::quality && quality_length_ == sequence_length_);
  if (!is_whole && !stop_requested()) fail("the file ends inside a FASTQ record; is it complete?");
  finished_bytes_ += file_->bytes_read();
  file_.reset();
}

void SequenceReader::take_line_piece(std::string_view piece, bool ends_line, std::string& bases) {
  if (at_line_start_ && !piece.empty()) {
    begin_line(piece[0]);
    at_line_start_ = false;
  }
  if (part_ == Part::sequence) {
    append(piece, bases);
  } else if (part_ == Part::quality) {
    quality_length_ += static_cast<std::uint64_t>(std::count_if(piece.begin(), piece.end(), is_graphic));
    if (quality_length_ > sequence_length_) fail("the quality is longer than its sequence");
  }
  if (!ends_line) return;
  if (part_ == Part::header) {
    part_ = Part::sequence;
    sequence_length_ = quality_length_ = 0;
    ends_window_ = true;
    ++num_sequences_;
  } else if (part_ == Part::separator) {
    part_ = Part::quality;
  }
  if (part_ == Part::quality && quality_length_ == sequence_length_ && sequence_length_ > 0)
    part_ = Part::between;
  at_line_start_ = true;
  ++line_;
}

/// What the line is that begins with this byte.
void SequenceReader::begin_line(char first) {
  if (part_ == Part::quality && sequence_length_ == 0 && is_graphic(first)) part_ = Part::between;
  if (part_ == Part::between) {
    if (!is_graphic(first)) return;  // an empty line, perhaps with CR
    if (format_ == Format::unknown && (first == '>' || first == '@'))
      format_ = first == '>' ? Format::fasta : Format::fastq;
    if (format_ == Format::unknown)
      fail("this is no FASTA or FASTQ, plain or gzip: it begins with neither '>' nor '@'");
    if (format_ == Format::fastq && first != '@') fail("a FASTQ record must begin with '@'");
    part_ = Part::header;
  } else if (part_ == Part::sequence) {
    if (format_ == Format::fasta && first == '>') part_ = Part::header;
    if (format_ == Format::fastq && first == '+') part_ = Part::separator;
  }
}

void SequenceReader::append(std::string_view piece, std::string& bases) {
  if (piece.empty()) return;
  if (ends_window_ && !bases.empty() && bases.back() != '\n') bases += '\n';
  ends_window_ = false;
  const std::size_t before = bases.size();
  bases.resize(before + piece.size());
  char* out = bases.data() + before;
  for (const char byte : piece) {
    const char base = base_of_byte[static_cast<unsigned char>(byte)];
    *out = base;
    out += base != '\0';
  }
  bases.resize(static_cast<std::size_t>(out - bases.data()));
  sequence_length_ += bases.size() - before;
  num_bases_ += bases.size() - before;
}

void SequenceReader::fail(const std::string& what) const {
  throw std::runtime_error(fmt::format("{}, line {}: {}", file_->name(), line_, what));
}

}  // namespace tally::cli

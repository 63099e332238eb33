#include "input/byte_source.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/meanwhile.hpp"
#include "cli/signals.hpp"
#include "input/compression.hpp"
#include "input/decoded_ahead.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
constexpr int pipe_bytes = 256 << 10;  // with 64, the default, both sides wait for each other more often

/// The file itself. Its first bytes can tell how it is compressed before they are read.
class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
    file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    // Opening a named pipe waits for its writer; a signal then ends the input, as it does during a read.
    if (file_ < 0 && !(errno == EINTR && stop_requested())) fail();
    if (path != "-") ::posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
    const int size = ::fcntl(file_, F_GETPIPE_SZ);                                // -1 of what is not a pipe
    if (size > 0 && size < pipe_bytes) ::fcntl(file_, F_SETPIPE_SZ, pipe_bytes);  // a hint only
  }
  ~PlainFile() override {
    if (file_ > STDIN_FILENO) ::close(file_);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Reads no more than it needs to decide, so that the first line of a live stream is not held back.
  const Compression* compression() {
    while (true) {
      const ToldByStart told = compression_of({peeked_.data(), num_peeked_});
      if (!told.may_be_longer) return told.compression;
      const std::size_t count = read_file(std::span(peeked_).subspan(num_peeked_));
      if (count == 0) return nullptr;
      num_peeked_ += count;
    }
  }

  std::size_t read(std::span<char> into) override {
    return num_given_ == num_peeked_ ? read_file(into) : read_peeked(into);
  }
  std::optional<std::size_t> read_now(std::span<char> into) override {
    if (num_given_ < num_peeked_) return read_peeked(into);
    if (!stop_requested() && !is_ready(0)) return std::nullopt;
    return read_file(into);
  }

  void wait_for_file(int milliseconds) const override { (void)is_ready(milliseconds); }

  std::uint64_t file_bytes_read() const noexcept override { return bytes_read_; }

 private:
  [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), name_); }

  std::size_t read_peeked(std::span<char> into) {
    const std::size_t count = std::min(into.size(), num_peeked_ - num_given_);
    std::copy_n(peeked_.data() + num_given_, count, into.data());
    num_given_ += count;
    return count;
  }

  bool is_ready(int milliseconds) const {
    pollfd polled{file_, POLLIN, 0};
    return ::poll(&polled, 1, milliseconds) > 0;
  }

  std::size_t read_file(std::span<char> into) {
    int milliseconds = 0;
    while (!stop_requested()) {
      if (!is_ready(milliseconds)) {
        flush_before_waiting();
        Meanwhile::run(true);
        // A signal ends the wait only in the thread that receives it, and it may come before the wait begins.
        milliseconds = 100;
        continue;
      }
      const ssize_t count = ::read(file_, into.data(), into.size());
      if (count >= 0) {
        bytes_read_ += static_cast<std::uint64_t>(count);
        return static_cast<std::size_t>(count);
      }
      if (errno != EINTR) fail();
    }
    return 0;
  }

  std::string name_;
  int file_ = -1;
  std::uint64_t bytes_read_ = 0;
  std::array<char, longest_magic> peeked_{};
  std::size_t num_peeked_ = 0;
  std::size_t num_given_ = 0;
};

class CompressedFile : public ByteSource {
 public:
  CompressedFile(std::unique_ptr<PlainFile> file, const Compression& compression)
      : file_(std::move(file)),
        compression_(compression.name),
        decoder_(compression.make_decoder()),
        chunk_(chunk_bytes) {}

  void wait_for_file(int milliseconds) const override { file_->wait_for_file(milliseconds); }
  std::uint64_t file_bytes_read() const noexcept override { return file_->file_bytes_read(); }

  std::size_t read(std::span<char> into) override {
    return *read_of(into, [&] { return std::optional(file_->read(chunk_)); });
  }
  std::optional<std::size_t> read_now(std::span<char> into) override {
    return read_of(into, [&] { return file_->read_now(chunk_); });
  }

 private:
  /// What is decoded of the chunks that fill_chunk() reads.
  template <class FillChunk>
  std::optional<std::size_t> read_of(std::span<char> into, FillChunk fill_chunk) {
    while (true) {
      // After a full buffer the decoder may have more output; getting that does not wait for the file.
      if (used_ == filled_ && !was_full_) {
        const std::optional<std::size_t> count = fill_chunk();
        if (!count) return std::nullopt;
        used_ = 0;
        filled_ = *count;
      }
      const bool is_at_end = filled_ == 0;
      try {
        const std::size_t num_written = decode(into);
        if (num_written > 0 || is_at_end) return num_written;
      } catch (const std::runtime_error& error) {
        throw std::runtime_error(file_->name() + ": " + error.what());
      }
    }
  }

  std::size_t decode(std::span<char> into) {
    const std::span<const char> input = std::span(chunk_).subspan(used_, filled_ - used_);
    const Decoder::Done done = decoder_->decode(input, into);
    used_ += done.num_read;
    was_full_ = done.num_written == into.size();
    if (done.num_written > 0) return done.num_written;
    if (!input.empty() && done.num_read == 0) throw std::runtime_error("damaged " + compression_ + " data");
    if (filled_ == 0 && !stop_requested() && !decoder_->may_end())
      throw std::runtime_error("the " + compression_ + " data ends early; is the file complete?");
    return 0;
  }

  std::unique_ptr<PlainFile> file_;
  std::string compression_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<char> chunk_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  bool was_full_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> ByteSource::open(const std::string& path, Decompress decompress) {
  auto file = std::make_unique<PlainFile>(path);
  if (decompress == Decompress::no) return file;
  const Compression* const compression = file->compression();
  if (compression != nullptr && compression->make_decoder != nullptr) {
    auto decoded = std::make_unique<CompressedFile>(std::move(file), *compression);
    if (decompress == Decompress::ahead) return DecodedAhead::of(std::move(decoded));
    return decoded;
  }
  if (compression != nullptr) {
    throw std::runtime_error(
        fmt::format("{}: this is {}, which tally cannot read; unpack it first with '{}', or read the bytes "
                    "unchanged with --no-decompress",
                    file->name(), compression->name, compression->unpack));
  }
  const std::optional<std::string_view> promised = promised_compression(path);
  if (promised && !stop_requested()) {
    throw std::runtime_error(fmt::format(
        "{}: the name ends in {} but the data has another format; rename the file, or give --no-decompress",
        path, *promised));
  }
  return file;
}

std::optional<std::uint64_t> file_size_of(const std::string& path) {
  struct stat status {};
  const bool found = path == "-" ? ::fstat(STDIN_FILENO, &status) == 0 : ::stat(path.c_str(), &status) == 0;
  if (!found || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::uint64_t> total_size_of(const std::vector<std::string>& paths) {
  std::uint64_t sum = 0;
  for (const std::string& path : paths) {
    const std::optional<std::uint64_t> size = file_size_of(path);
    if (!size) return std::nullopt;
    sum += *size;
  }
  return sum;
}

}  // namespace tally::cli

#include "byte_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "signals.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

enum class Compression { none, gzip, zstd, not_known_yet };

struct Magic {
  std::string_view bytes;
  int mask_of_first;
  Compression compression;
};

// The last one starts a zstd file whose first frame is to be skipped, as pzstd writes.
constexpr std::array<Magic, 3> magics{{{"\x1f\x8b", 0xff, Compression::gzip},
                                       {"\x28\xb5\x2f\xfd", 0xff, Compression::zstd},
                                       {"\x50\x2a\x4d\x18", 0xf0, Compression::zstd}}};
constexpr std::size_t longest_magic = 4;

Compression compression_of(std::string_view start) {
  if (start.empty()) return Compression::not_known_yet;
  for (const auto& [bytes, mask, compression] : magics) {
    const std::size_t length = std::min(start.size(), bytes.size());
    const bool fits =
        (start[0] & mask) == (bytes[0] & mask) && start.substr(1, length - 1) == bytes.substr(1, length - 1);
    if (fits) return length == bytes.size() ? compression : Compression::not_known_yet;
  }
  return Compression::none;
}

/// The file itself. Its first bytes can tell how it is compressed before they are read.
class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
    file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    // Opening a named pipe waits for its writer; a signal then ends the input, as it does while reading.
    if (file_ < 0 && !(errno == EINTR && stop_requested())) fail();
    if (path != "-") ::posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~PlainFile() override {
    if (file_ > STDIN_FILENO) ::close(file_);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Reads no further than it takes to tell, so that the first line of a live stream is not held back.
  Compression compression() {
    while (compression_of(peeked()) == Compression::not_known_yet) {
      const std::size_t count = read_file(std::span(peeked_).subspan(num_peeked_));
      if (count == 0) return Compression::none;
      num_peeked_ += count;
    }
    return compression_of(peeked());
  }

  std::size_t read(std::span<char> into) override {
    if (num_given_ == num_peeked_) return read_file(into);
    const std::size_t count = std::min(into.size(), num_peeked_ - num_given_);
    std::copy_n(peeked_.data() + num_given_, count, into.data());
    num_given_ += count;
    return count;
  }

  std::uint64_t file_bytes_read() const noexcept override { return bytes_read_; }

 private:
  [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), name_); }

  std::string_view peeked() const { return {peeked_.data(), num_peeked_}; }

  std::size_t read_file(std::span<char> into) {
    while (!stop_requested()) {
      // A signal ends the wait only of the thread that it is delivered to; and it may come before the wait begins.
      constexpr int milliseconds = 100;
      pollfd polled{file_, POLLIN, 0};
      if (::poll(&polled, 1, milliseconds) <= 0) continue;
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

/// What the decompressors share: a chunk of the compressed file at a time.
class CompressedFile : public ByteSource {
 public:
  explicit CompressedFile(std::unique_ptr<PlainFile> file) : file_(std::move(file)), chunk_(chunk_bytes) {}

  std::uint64_t file_bytes_read() const noexcept override { return file_->file_bytes_read(); }

 protected:
  /// Reads the next chunk if the last one is used up; whether there is anything left.
  bool refill() {
    if (used_ < filled_) return true;
    used_ = 0;
    filled_ = file_->read(chunk_);
    return filled_ > 0;
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw std::runtime_error(file_->name() + ": " + std::string(what));
  }

  std::unique_ptr<PlainFile> file_;
  std::vector<char> chunk_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
};

class GzipFile : public CompressedFile {
 public:
  explicit GzipFile(std::unique_ptr<PlainFile> file) : CompressedFile(std::move(file)) {
    constexpr int largest_window_gzip_only = 15 + 16;
    if (::inflateInit2(&stream_, largest_window_gzip_only) != Z_OK) throw std::bad_alloc();
    begin_member();
  }
  ~GzipFile() override { ::inflateEnd(&stream_); }

  std::size_t read(std::span<char> into) override {
    while (true) {
      if (!refill()) {
        const bool lacks_end = in_member_ || (is_bgzf_ && !member_was_empty_);
        if (lacks_end && !stop_requested()) fail("the gzip data ends early; is the file complete?");
        return 0;
      }
      if (!in_member_) begin_member();  // another one may follow the last
      stream_.next_in = reinterpret_cast<Bytef*>(chunk_.data() + used_);
      stream_.avail_in = static_cast<uInt>(filled_ - used_);
      stream_.next_out = reinterpret_cast<Bytef*>(into.data());
      stream_.avail_out = static_cast<uInt>(std::min(into.size(), chunk_bytes));
      const auto room = stream_.avail_out;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      used_ = filled_ - stream_.avail_in;
      if (status == Z_STREAM_END) end_member();
      else if (status != Z_OK) fail("damaged gzip data");
      if (room > stream_.avail_out) return room - stream_.avail_out;
    }
  }

 private:
  void begin_member() {
    ::inflateReset(&stream_);
    header_ = {};
    header_.extra = extra_.data();
    header_.extra_max = static_cast<uInt>(extra_.size());
    ::inflateGetHeader(&stream_, &header_);
    in_member_ = true;
  }

  // A BGZF file, whose members say so in their extra field, ends in an empty one: else it was cut between members.
  void end_member() {
    in_member_ = false;
    is_bgzf_ = header_.extra != nullptr && header_.extra_len >= 2 && extra_[0] == 'B' && extra_[1] == 'C';
    member_was_empty_ = stream_.total_out == 0;
  }

  z_stream stream_{};
  gz_header header_{};
  std::array<Bytef, 2> extra_{};
  bool in_member_ = false;
  bool is_bgzf_ = false;
  bool member_was_empty_ = false;
};

class ZstdFile : public CompressedFile {
 public:
  explicit ZstdFile(std::unique_ptr<PlainFile> file)
      : CompressedFile(std::move(file)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdFile() override { ZSTD_freeDStream(stream_); }

  std::size_t read(std::span<char> into) override {
    while (true) {
      // After a full output buffer the decoder may hold more, without any more input.
      const bool more_input = refill();
      if (!more_input && !output_was_full_) {
        if (in_frame_ && !stop_requested()) fail("the zstd data ends early; is the file complete?");
        return 0;
      }
      ZSTD_inBuffer input{chunk_.data(), filled_, used_};
      ZSTD_outBuffer output{into.data(), into.size(), 0};
      const std::size_t status = ZSTD_decompressStream(stream_, &output, &input);
      if (ZSTD_isError(status) != 0) fail(std::string("damaged zstd data: ") + ZSTD_getErrorName(status));
      used_ = input.pos;
      in_frame_ = status != 0;
      output_was_full_ = output.pos == output.size && in_frame_;
      if (output.pos > 0) return output.pos;
      if (!more_input) output_was_full_ = false;
    }
  }

 private:
  ZSTD_DStream* stream_;
  bool in_frame_ = false;
  bool output_was_full_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> ByteSource::open(const std::string& path) {
  auto file = std::make_unique<PlainFile>(path);
  const Compression compression = file->compression();
  if (compression == Compression::gzip) return std::make_unique<GzipFile>(std::move(file));
  if (compression == Compression::zstd) return std::make_unique<ZstdFile>(std::move(file));
  for (const auto* suffix : {".gz", ".zst"}) {
    if (!path.ends_with(suffix) || stop_requested()) continue;
    throw std::runtime_error(path + ": the name ends in " + suffix +
                             " but the data is not compressed so; rename it");
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

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>

#include "input/decoder.hpp"

namespace tally::cli {
namespace {

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    constexpr int largest_window_gzip_only = 15 + 16;
    if (::inflateInit2(&stream_, largest_window_gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { ::inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  Done decode(std::span<const char> input, std::span<char> output) override {
    if (!in_member_ && input.empty()) return {};
    if (!in_member_) begin_member();
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    const auto num_given = static_cast<uInt>(std::min(input.size(), most));
    const auto room = static_cast<uInt>(std::min(output.size(), most));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // it is only read
    stream_.avail_in = num_given;
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = room;
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) end_member();
    else if (status != Z_OK && status != Z_BUF_ERROR) throw std::runtime_error("damaged gzip data");
    return {num_given - stream_.avail_in, room - stream_.avail_out};
  }

  bool may_end() override { return !in_member_ && !(is_bgzf_ && !member_was_empty_); }

 private:
  void begin_member() {
    ::inflateReset(&stream_);
    header_ = {};
    header_.extra = extra_.data();
    header_.extra_max = static_cast<uInt>(extra_.size());
    ::inflateGetHeader(&stream_, &header_);
    in_member_ = true;
  }

  // A BGZF file, whose members have an extra field for that, ends with an empty member. Without that it
  // was cut off between members.
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

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }

}  // namespace tally::cli

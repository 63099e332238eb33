#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

#include "input/decoder.hpp"

namespace tally::cli {
namespace {

class Bzip2Decoder : public Decoder {
 public:
  Bzip2Decoder() = default;
  ~Bzip2Decoder() override {
    if (in_stream_) ::BZ2_bzDecompressEnd(&stream_);
  }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;

  Done decode(std::span<const char> input, std::span<char> output) override {
    if (!in_stream_ && input.empty()) return {};
    if (!in_stream_) begin_stream();
    constexpr std::size_t most = std::numeric_limits<unsigned int>::max();
    const auto num_given = static_cast<unsigned int>(std::min(input.size(), most));
    const auto room = static_cast<unsigned int>(std::min(output.size(), most));
    stream_.next_in = const_cast<char*>(input.data());  // it is only read
    stream_.avail_in = num_given;
    stream_.next_out = output.data();
    stream_.avail_out = room;
    const int status = ::BZ2_bzDecompress(&stream_);
    if (status == BZ_MEM_ERROR) throw std::bad_alloc();
    if (status != BZ_OK && status != BZ_STREAM_END) throw std::runtime_error("damaged bzip2 data");
    const Done done{num_given - stream_.avail_in, room - stream_.avail_out};
    if (status == BZ_STREAM_END) {
      ::BZ2_bzDecompressEnd(&stream_);
      in_stream_ = false;
    }
    return done;
  }

  bool may_end() override { return !in_stream_; }

 private:
  void begin_stream() {
    stream_ = {};
    constexpr int verbosity = 0;
    constexpr int slow_in_less_memory = 0;
    if (::BZ2_bzDecompressInit(&stream_, verbosity, slow_in_less_memory) != BZ_OK) throw std::bad_alloc();
    in_stream_ = true;
  }

  bz_stream stream_{};
  bool in_stream_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_bzip2_decoder() { return std::make_unique<Bzip2Decoder>(); }

}  // namespace tally::cli

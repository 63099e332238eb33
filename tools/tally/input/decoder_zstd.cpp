#include <zstd.h>
#include <zstd_errors.h>

#include <new>
#include <stdexcept>
#include <string>

#include "input/decoder.hpp"

namespace tally::cli {
namespace {

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Done decode(std::span<const char> input, std::span<char> output) override {
    if (!in_frame_ && input.empty()) return {};
    ZSTD_inBuffer from{input.data(), input.size(), 0};
    ZSTD_outBuffer to{output.data(), output.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &to, &from);
    if (ZSTD_isError(status) != 0) fail(status);
    in_frame_ = status != 0;
    return {from.pos, to.pos};
  }

  bool may_end() override { return !in_frame_; }

 private:
  [[noreturn]] static void fail(std::size_t status) {
    switch (ZSTD_getErrorCode(status)) {
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_frameParameter_windowTooLarge:
        throw std::runtime_error(
            "the zstd data needs more than 128 MiB of memory to decompress, the maximum; decompress it with "
            "'zstd -dc --long=31' and a pipe");
      default:
        throw std::runtime_error(std::string("damaged zstd data: ") + ZSTD_getErrorName(status));
    }
  }

  ZSTD_DStream* stream_;
  bool in_frame_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace tally::cli

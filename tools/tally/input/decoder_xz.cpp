#include <fmt/core.h>
#include <lzma.h>

#include <new>
#include <stdexcept>

#include "input/decoder.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

/// `xz -9` takes 65 MiB; a file may require 4 GiB.
constexpr std::uint64_t most_memory = std::uint64_t{256} << 20;

class XzDecoder : public Decoder {
 public:
  XzDecoder() { check(::lzma_stream_decoder(&stream_, most_memory, LZMA_CONCATENATED)); }
  ~XzDecoder() override { ::lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  Done decode(std::span<const char> input, std::span<char> output) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    stream_.avail_out = output.size();
    check(::lzma_code(&stream_, LZMA_RUN));
    return {input.size() - stream_.avail_in, output.size() - stream_.avail_out};
  }

  bool may_end() override {
    stream_.avail_in = stream_.avail_out = 0;
    const lzma_ret status = ::lzma_code(&stream_, LZMA_FINISH);
    check(status);
    return status == LZMA_STREAM_END;
  }

 private:
  void check(lzma_ret status) const {
    switch (status) {
      case LZMA_OK:
      case LZMA_STREAM_END:
      case LZMA_BUF_ERROR:  // no progress was possible; more input may come
        return;
      case LZMA_MEM_ERROR:
        throw std::bad_alloc();
      case LZMA_MEMLIMIT_ERROR:
        throw std::runtime_error(fmt::format(
            "the xz data needs {} of memory to decompress; the maximum is {}; decompress it with 'xz -dc' "
            "and a pipe",
            human_bytes(static_cast<double>(::lzma_memusage(&stream_))),
            human_bytes(static_cast<double>(most_memory))));
      case LZMA_OPTIONS_ERROR:
        throw std::runtime_error("damaged xz data, or an xz feature that this liblzma does not support");
      default:
        throw std::runtime_error("damaged xz data");
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Decoder> make_xz_decoder() { return std::make_unique<XzDecoder>(); }

}  // namespace tally::cli

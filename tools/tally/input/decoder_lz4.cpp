#include <lz4frame.h>

#include <new>
#include <stdexcept>
#include <string>

#include "input/decoder.hpp"

namespace tally::cli {
namespace {

class Lz4Decoder : public Decoder {
 public:
  Lz4Decoder() {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0) throw std::bad_alloc();
  }
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(context_); }
  Lz4Decoder(const Lz4Decoder&) = delete;
  Lz4Decoder& operator=(const Lz4Decoder&) = delete;

  Done decode(std::span<const char> input, std::span<char> output) override {
    if (!in_frame_ && input.empty()) return {};
    std::size_t num_written = output.size();
    std::size_t num_read = input.size();
    const std::size_t status =
        LZ4F_decompress(context_, output.data(), &num_written, input.data(), &num_read, nullptr);
    if (LZ4F_isError(status) != 0)
      throw std::runtime_error(std::string("damaged lz4 data: ") + LZ4F_getErrorName(status));
    in_frame_ = status != 0;
    return {num_read, num_written};
  }

  bool may_end() override { return !in_frame_; }

 private:
  LZ4F_dctx* context_ = nullptr;
  bool in_frame_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_lz4_decoder() { return std::make_unique<Lz4Decoder>(); }

}  // namespace tally::cli

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace tally::cli {

/// Decompresses the bytes of a file, which are handed over in portions. Its memory is bounded, whatever the bytes are.
class Decoder {
 public:
  struct Done {
    std::size_t num_read = 0;
    std::size_t num_written = 0;
  };

  virtual ~Decoder() = default;

  /// Takes from the front of `input` and fills the front of `output`, which is not empty. `input` may be empty: what
  /// is still held back is written then. Throws std::runtime_error that says what is wrong with the bytes.
  virtual Done decode(std::span<const char> input, std::span<char> output) = 0;

  /// Whether the file is complete after what was read. Nothing may follow this call.
  virtual bool may_end() = 0;
};

// Each of these reads what was compressed in several pieces and joined, too.
std::unique_ptr<Decoder> make_bzip2_decoder();
std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_lz4_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();

}  // namespace tally::cli

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace tally::cli {

/// Decompresses the bytes of a file, which arrive in portions. Its memory is bounded, whatever the bytes are.
class Decoder {
 public:
  struct Done {
    std::size_t num_read = 0;
    std::size_t num_written = 0;
  };

  virtual ~Decoder() = default;

  /// Consumes bytes from the front of `input` and fills the front of `output`, which is not empty. `input`
  /// may be empty: then output that was held back is written. Throws std::runtime_error that describes the
  /// error in the bytes.
  virtual Done decode(std::span<const char> input, std::span<char> output) = 0;

  /// Whether the file is complete after the bytes so far. This must be the last call.
  virtual bool may_end() = 0;
};

// Each of these also reads files that were compressed in several pieces and concatenated.
std::unique_ptr<Decoder> make_bzip2_decoder();
std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_lz4_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();

}  // namespace tally::cli

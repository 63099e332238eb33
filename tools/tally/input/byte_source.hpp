#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tally::cli {

/// Whether compressed files are decompressed, or read as the bytes that they are.
enum class Decompress : bool { no, yes };

/// The bytes of a file or of standard input ("-"), decompressed where their first bytes are those of gzip, zstd, xz,
/// bzip2 or lz4; a name that ends in .gz, .zst, .xz, .bz2 or .lz4 promises it.
///
/// Throws std::system_error that names the path where reading fails, and std::runtime_error that names it where
/// compressed data is damaged, ends early, takes too much memory, or is of a format that is not read. SIGINT and SIGTERM
/// end the bytes. Where there are none yet, the thread's output is flushed before they are waited for.
class ByteSource {
 public:
  static std::unique_ptr<ByteSource> open(const std::string& path, Decompress decompress = Decompress::yes);

  virtual ~ByteSource() = default;

  /// Fills the front of `into`; 0 at the end. `into` is not empty.
  virtual std::size_t read(std::span<char> into) = 0;

  /// Bytes taken from the file so far, before decompression.
  virtual std::uint64_t file_bytes_read() const noexcept = 0;
};

/// Bytes of a regular file; nothing for a pipe, or a path that is none.
std::optional<std::uint64_t> file_size_of(const std::string& path);
/// Of all of them together; nothing where one has none.
std::optional<std::uint64_t> total_size_of(const std::vector<std::string>& paths);

}  // namespace tally::cli

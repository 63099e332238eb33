#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tally::cli {

/// Whether compressed files are read unchanged, or decompressed, in the thread that reads or ahead of it in one of their own.
enum class Decompress : std::uint8_t { no, yes, ahead };

/// The bytes of a file or of standard input ("-"), decompressed if their first bytes are those of gzip, zstd,
/// xz, bzip2 or lz4. A name that ends in .gz, .zst, .xz, .bz2 or .lz4 must have such contents.
///
/// Throws std::system_error that names the path if reading fails, and std::runtime_error that names it if
/// compressed data is damaged, ends early, takes too much memory, or has an unsupported format. SIGINT and
/// SIGTERM end the bytes. Before it waits for bytes, it flushes the thread's output.
class ByteSource {
 public:
  static std::unique_ptr<ByteSource> open(const std::string& path, Decompress decompress = Decompress::yes);

  virtual ~ByteSource() = default;

  /// Fills the front of `into` and returns the number of bytes; 0 at the end. `into` is not empty.
  virtual std::size_t read(std::span<char> into) = 0;
  /// The same without waiting: nothing if there are no bytes for now.
  virtual std::optional<std::size_t> read_now(std::span<char> into) { return read(into); }

  /// Waits for bytes of the file, at most that long.
  virtual void wait_for_file([[maybe_unused]] int milliseconds) const {}

  /// Bytes read from the file so far, before decompression.
  virtual std::uint64_t file_bytes_read() const noexcept = 0;
};

/// The size of a regular file; empty for a pipe, or if there is no such file.
std::optional<std::uint64_t> file_size_of(const std::string& path);
/// The total size of all files; empty if one of them has no size.
std::optional<std::uint64_t> total_size_of(const std::vector<std::string>& paths);

}  // namespace tally::cli

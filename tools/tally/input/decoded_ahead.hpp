#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "input/byte_source.hpp"

namespace tally::cli {

/// Another source, which one thread of its own reads ahead in a bounded number of chunks. What a decoder remembers of the bytes
/// before, megabytes for zstd, then stays in the cache of one processor, whichever thread takes the bytes.
class DecodedAhead : public ByteSource {
 public:
  /// The source itself if no thread is available. Throws std::bad_alloc.
  static std::unique_ptr<ByteSource> of(std::unique_ptr<ByteSource> source);
  ~DecodedAhead() override;
  DecodedAhead(const DecodedAhead&) = delete;
  DecodedAhead& operator=(const DecodedAhead&) = delete;

  std::size_t read(std::span<char> into) override;
  /// Nothing only if the file has no more for now: waits for what is being decoded.
  std::optional<std::size_t> read_now(std::span<char> into) override;
  std::uint64_t file_bytes_read() const noexcept override { return file_bytes_read_; }

 private:
  struct Chunk {
    std::vector<char> bytes;
    std::size_t size = 0;
    std::uint64_t file_bytes_read = 0;  // with it
  };

  explicit DecodedAhead(std::unique_ptr<ByteSource> source);

  void decode_all();
  void decode_chunks();
  Chunk* wait_for_free_chunk();
  bool decode(Chunk& chunk);
  bool has_news() const noexcept;
  std::optional<std::size_t> take(std::span<char> into);

  std::unique_ptr<ByteSource> source_;  // of the other thread
  std::array<Chunk, 4> chunks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t num_decoded_ = 0;  // chunks; number n is in chunks_[n % size]
  std::uint64_t num_taken_ = 0;
  bool waits_for_file_ = false;
  bool has_ended_ = false;
  bool is_abandoned_ = false;
  std::exception_ptr error_;

  std::size_t taken_of_chunk_ = 0;
  std::uint64_t file_bytes_read_ = 0;
  std::thread thread_;
};

}  // namespace tally::cli

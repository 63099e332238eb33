#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "input/block_reader.hpp"
#include "input/key_loop.hpp"
#include "input/line_cutter.hpp"
#include "input/read_ahead/pieces.hpp"

namespace tally::cli {

/// Reads and hashes pieces, for whichever of two threads has nothing else to do. One of them reads at a time.
class Supply {
 public:
  Supply(const InputOptions& input, const KeyHasher& hasher, Pieces& pieces);

  enum class Outcome : std::uint8_t { none, piece, end };
  struct Taken {
    Outcome outcome = Outcome::none;  ///< `none`: the other thread reads, or no piece is free
    std::uint64_t number = 0;         ///< of the piece
  };
  /// Reads the next piece, which then belongs to the caller.
  Taken take();

  /// Cuts the piece into keys and hashes them: after_batch(the number of keys that the piece had before).
  template <class AfterBatch>
  void hash(Piece& piece, LineCutter& cutter, AfterBatch after_batch) const {
    piece.fields.forget_joined();
    piece.keys.clear();
    piece.digests.clear();
    piece.num_others = 0;
    cutter.begin(piece.block);
    piece.num_lines = 0;
    piece.num_skipped = 0;
    piece.refused_line.reset();
    std::vector<std::string_view> selected;
    BatchHasher hash_batch(input_, hasher_);
    while (true) {
      const std::span<const std::string_view> lines = cutter.next();
      if (lines.empty()) return;
      const std::span<const std::string_view> keys = piece.fields.select_all(lines, selected);
      const BatchHasher::Hashed hashed = hash_batch(keys);
      if (hashed.refused) {
        piece.refused_line = piece.num_lines + *hashed.refused;
        piece.refused_key = keys[*hashed.refused];
        return;
      }
      piece.num_lines += keys.size();
      piece.num_skipped += keys.size() - hashed.keys.size();
      const std::size_t begin = piece.keys.size();
      piece.keys.insert(piece.keys.end(), hashed.keys.begin(), hashed.keys.end());
      piece.digests.insert(piece.digests.end(), hashed.digests.begin(), hashed.digests.end());
      after_batch(begin);
    }
  }

  /// Gives a piece back. The memory of a long line is released.
  void free(Piece& piece);

  bool is_at_end() const { return is_at_end_; }
  std::uint64_t num_taken() const { return num_taken_; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::optional<std::uint64_t> total_bytes() const { return reader_.total_bytes(); }
  char separator() const { return separator_; }
  const std::string& file_name(std::size_t number) const { return reader_.file_name(number); }

 private:
  bool waits_for_long_line(std::uint64_t number);
  void read_into(Piece& piece);

  const InputOptions& input_;
  KeyHasher hasher_;
  Pieces& pieces_;
  char separator_;

  // Of the thread that has set is_reading_.
  std::atomic_flag is_reading_;
  BlockReader reader_;
  std::size_t last_block_bytes_ = 0;

  std::atomic<std::uint64_t> num_taken_ = 0;
  std::atomic<bool> is_at_end_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace tally::cli

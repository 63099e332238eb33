#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "input/block_reader.hpp"
#include "input/key_loop.hpp"
#include "input/line_cutter.hpp"
#include "input/read_ahead/pieces.hpp"
#include "input/read_ahead/work_for_two.hpp"

namespace tally::cli {

/// Reads and hashes pieces, for whichever thread has nothing else to do. One of them reads at a time.
class Supply {
 public:
  Supply(const InputOptions& input, const KeyHasher& hasher, Pieces& pieces);

  enum class Outcome : std::uint8_t { none, piece, end };
  struct Taken {
    Outcome outcome = Outcome::none;  ///< `none`: no piece is free, or a pipe has no more for now
    std::uint64_t number = 0;         ///< of the piece
  };
  /// Reads the next piece, which then belongs to the caller. Waits for a pipe only if all pieces before that are used
  /// (`num_used`): while the first thread waits, the other one has nothing to do, and while that waits it answers nothing.
  Taken take(std::uint64_t num_used);
  static constexpr std::uint64_t waits_for_no_pipe = ~std::uint64_t{0};

  /// Cuts the piece into keys and hashes them: after_batch(the number of keys that the piece had before).
  template <class AfterBatch>
  void hash(Piece& piece, LineCutter& cutter, AfterBatch after_batch) const {
    piece.fields.forget_joined();
    piece.texts.clear();
    piece.digests.clear();
    piece.num_others = 0;
    cutter.begin(piece.block);
    piece.num_lines = 0;
    piece.num_skipped = 0;
    piece.refused_line.reset();
    piece.error_after = nullptr;
    LinesWithKeys with_keys(input_);
    BatchHasher hash_batch(input_, hasher_);
    bool has_header = piece.header.has_value();
    while (true) {
      std::span<const std::string_view> lines = cutter.next();
      if (lines.empty()) return;
      if (std::exchange(has_header, false)) {
        lines = lines.subspan(1);
        ++piece.num_lines;
      }
      const LinesWithKeys::Selected selected = with_keys.select(piece.fields, lines);
      const BatchHasher::Hashed hashed =
          hash_batch(selected.keys, input_.prints_lines ? selected.lines : selected.keys);
      if (hashed.refused) {
        piece.refused_line = piece.num_lines + *hashed.refused;
        piece.refusal = refusal_of_key(input_, selected.keys[*hashed.refused]);
      } else if (selected.refused) {
        piece.refused_line = piece.num_lines + *selected.refused;
        piece.refusal = refusal_of_line(piece.fields, lines[*selected.refused]);
      } else {
        piece.num_lines += lines.size();
        piece.num_skipped += lines.size() - hashed.keys.size();
      }
      const std::size_t begin = piece.texts.size();
      piece.texts.insert(piece.texts.end(), hashed.texts.begin(), hashed.texts.end());
      piece.digests.insert(piece.digests.end(), hashed.digests.begin(), hashed.digests.end());
      after_batch(begin);
      if (piece.refused_line) return;
    }
  }

  /// Reads and hashes the next piece, sieves it if begins_to_sieve(piece, its number), and passes it on; `num_used` as in
  /// `take`. False if there is nothing to read now.
  bool read_further(LineCutter& cutter, std::uint64_t num_used, const WorkForTwo& work,
                    const std::function<bool(Piece&, std::uint64_t)>& begins_to_sieve);
  /// The same for other threads than the second: sieves the piece unless that needs an order.
  bool read_further(LineCutter& cutter, std::uint64_t num_used, const WorkForTwo& work);

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
  bool read_into(Piece& piece, bool waits);
  void take_header(Piece& piece);

  const InputOptions& input_;
  KeyHasher hasher_;
  Pieces& pieces_;
  char separator_;

  std::mutex reading_;  // of the thread that reads: a thread that waits for it would have nothing else to do
  BlockReader reader_;
  std::size_t last_block_bytes_ = 0;
  FieldSelector fields_;  // of the last header
  bool has_header_;
  std::optional<std::size_t> last_file_number_;

  std::atomic<std::uint64_t> num_taken_ = 0;
  std::atomic<bool> is_at_end_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace tally::cli

#include "input/read_ahead/supply.hpp"

#include "input/read_ahead/sieve.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t long_bytes = std::size_t{1} << 20;

}  // namespace

Supply::Supply(const InputOptions& input, const KeyHasher& hasher, Pieces& pieces)
    : input_(input),
      hasher_(hasher),
      pieces_(pieces),
      separator_(separator_of(input)),
      reader_(input.files, separator_,
              decompress_of(input) == Decompress::no ? Decompress::no : Decompress::ahead),
      fields_(input.fields),
      has_header_(input.fields.has_header || fields_.needs_header()) {}

Supply::Taken Supply::take(std::uint64_t num_used) {
  const std::lock_guard alone(reading_);
  const std::uint64_t number = num_taken_;
  Piece& piece = pieces_[number];
  if (is_at_end_ || piece.state != Piece::State::free || waits_for_long_line(number)) return {};
  const bool waits = num_used == number;
  if (waits) pieces_.tell_now();
  if (!read_into(piece, waits)) return {};
  bytes_read_ = reader_.bytes_read();
  last_block_bytes_ = piece.block.size();
  const bool has_piece = piece.error || !piece.block.empty();
  if (has_piece) {
    piece.state = Piece::State::taken;
    ++num_taken_;
  }
  if (piece.block.empty()) is_at_end_ = true;
  if (waits || is_at_end_) pieces_.tell_and_wake();
  return {has_piece ? Outcome::piece : Outcome::end, number};
}

bool Supply::read_further(LineCutter& cutter, std::uint64_t num_used, const WorkForTwo& work,
                          const std::function<bool(Piece&, std::uint64_t)>& begins_to_sieve) {
  const Taken taken = take(num_used);
  if (taken.outcome != Outcome::piece) return taken.outcome == Outcome::end;
  Piece& piece = pieces_[taken.number];
  const bool sieves = begins_to_sieve(piece, taken.number);
  const auto sieve_batch = [&](std::size_t begin) {
    if (sieves) sieve(work, piece, begin);
  };
  if (!piece.error) piece.error = caught([&] { hash(piece, cutter, sieve_batch); });
  pieces_.set(piece, sieves ? Piece::State::sieved : Piece::State::hashed);
  return true;
}

bool Supply::read_further(LineCutter& cutter, std::uint64_t num_used, const WorkForTwo& work) {
  return read_further(cutter, num_used, work,
                      [&](Piece&, std::uint64_t) { return !is_sieved_in_order(work); });
}

void Supply::free(Piece& piece) {
  if (piece.bytes.size() > long_bytes) piece.bytes = std::vector<char>();
  pieces_.set(piece, Piece::State::free);
}

/// There is at most one long line at a time, so that they do not take the memory of all pieces.
bool Supply::waits_for_long_line(std::uint64_t number) {
  return last_block_bytes_ > long_bytes && pieces_[number - 1].state != Piece::State::free;
}

/// False if a pipe has no more for now.
bool Supply::read_into(Piece& piece, bool waits) {
  piece.block = {};
  piece.header.reset();
  bool is_paused = false;
  piece.error = caught([&] {
    const auto block = waits ? reader_.next(piece.bytes) : reader_.next_now(piece.bytes);
    is_paused = !block;
    if (is_paused) return;
    piece.block = *block;
    piece.file_number = reader_.file_number();
    if (has_header_ && !piece.block.empty()) take_header(piece);
  });
  return !is_paused;
}

void Supply::take_header(Piece& piece) {
  if (last_file_number_ != piece.file_number) {
    last_file_number_ = piece.file_number;
    const std::string_view block(piece.block.data(), piece.block.size());
    piece.header = block.substr(0, block.find(separator_));
    take_header_of_file(fields_, place_text(reader_.file_name(piece.file_number), 1), *piece.header);
  }
  piece.fields.take_header_of(fields_);
}

}  // namespace tally::cli

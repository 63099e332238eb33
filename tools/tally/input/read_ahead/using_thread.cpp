#include "input/read_ahead/using_thread.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cli/meanwhile.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

void use(const WorkForTwo& work, Piece& piece) {
  piece.to_remember.clear();
  const WorkForTwo::Texts texts = piece.texts;
  const WorkForTwo::Digests digests = piece.digests;
  std::size_t begin = 0;
  do {
    const std::size_t size = std::min(KeyReader::max_keys_a_call, texts.size() - begin);
    const WorkForTwo::Digests found = work.use(texts.subspan(begin, size), digests.subspan(begin, size),
                                               begin == 0 ? piece.num_others : 0, piece.num_remembered);
    piece.to_remember.insert(piece.to_remember.end(), found.begin(), found.end());
    begin += size;
  } while (begin < texts.size());
}

}  // namespace

void run_using_thread(const InputOptions& input, const WorkForTwo& work, Pieces& pieces, Supply& supply,
                      bool quiet, KeyTotals& totals) {
  Progress progress(quiet);
  LineCutter cutter(supply.separator());
  std::size_t file_number = 0;
  std::uint64_t num_lines = 0;  // of that file
  std::uint64_t next = 0;
  while (true) {
    const std::uint64_t seen = pieces.num_events();
    if (pieces.second_has_ended) return;  // before this one: it has failed
    if (supply.is_at_end() && next == supply.num_taken()) return;
    if (Piece& piece = pieces[next]; piece.state == Piece::State::sieved) {
      if (piece.error) std::rethrow_exception(piece.error);
      if (std::exchange(file_number, piece.file_number) != piece.file_number) num_lines = 0;
      if (piece.header && input.take_header) input.take_header(*piece.header);
      use(work, piece);
      if (piece.error_after) std::rethrow_exception(piece.error_after);
      totals.num_keys += piece.texts.size() + piece.num_others;
      if (piece.refused_line) {
        throw std::runtime_error(
            place_text(supply.file_name(file_number), num_lines + *piece.refused_line + 1) + ": " +
            piece.refusal);
      }
      num_lines += piece.num_lines;
      totals.num_skipped += piece.num_skipped;
      pieces.set(piece, Piece::State::used);
      ++next;
      progress.update(totals.num_keys, supply.bytes_read(), supply.total_bytes());
      Meanwhile::run(false);
    } else if (!supply.read_further(cutter, next, work)) {
      pieces.wait_for_more_than(seen);
    }
  }
}

}  // namespace tally::cli

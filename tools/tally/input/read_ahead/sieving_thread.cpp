#include "input/read_ahead/sieving_thread.hpp"

#include <algorithm>

namespace tally::cli {

void SievingThread::run() {
  std::uint64_t next_used = 0;
  while (true) {
    const std::uint64_t seen = pieces_.num_events();
    const bool is_last_round = pieces_.first_has_ended;
    if (Piece& used = pieces_[next_used]; used.state == Piece::State::used) {
      work_.remember(used.to_remember);
      num_remembered_ += used.to_remember.size();
      supply_.free(used);
      ++next_used;
    } else if (is_last_round) {
      return;
    } else if (Piece& hashed = pieces_[next_to_sieve_]; hashed.state == Piece::State::hashed) {
      begin_to_sieve(hashed);
      if (!hashed.error) sieve(hashed, 0);
      pieces_.set(hashed, Piece::State::sieved);
    } else if (!read_further()) {
      pieces_.wait_for_more_than(seen);
    }
  }
}

/// Sieves what it reads if its turn has come. False if there is nothing to read now.
bool SievingThread::read_further() {
  const Supply::Taken taken = supply_.take(Supply::waits_for_no_pipe);
  if (taken.outcome != Supply::Outcome::piece) return taken.outcome == Supply::Outcome::end;
  Piece& piece = pieces_[taken.number];
  const bool sieves = taken.number == next_to_sieve_ || !work_.find_absent;
  if (sieves) begin_to_sieve(piece);
  const auto sieve_batch = [&](std::size_t begin) {
    if (sieves) sieve(piece, begin);
  };
  if (!piece.error) piece.error = caught([&] { supply_.hash(piece, cutter_, sieve_batch); });
  pieces_.set(piece, sieves ? Piece::State::sieved : Piece::State::hashed);
  return true;
}

void SievingThread::begin_to_sieve(Piece& piece) {
  piece.num_remembered = num_remembered_;
  ++next_to_sieve_;
}

/// Of the keys from number `begin` on, keeps those that are absent; after a failure none.
void SievingThread::sieve(Piece& piece, std::size_t begin) const {
  if (!work_.find_absent) return;
  Batch<std::uint32_t> absent;
  std::size_t num_kept = begin;
  for (; begin < piece.digests.size() && !piece.error_after; begin += absent.size()) {
    const std::size_t size = std::min(absent.size(), piece.digests.size() - begin);
    std::size_t count = 0;
    piece.error_after = caught([&] { count = work_.find_absent({&piece.digests[begin], size}, absent); });
    for (std::size_t i = 0; i < count; ++i, ++num_kept) {
      piece.texts[num_kept] = piece.texts[begin + absent[i]];
      piece.digests[num_kept] = piece.digests[begin + absent[i]];
    }
  }
  piece.num_others += piece.texts.size() - num_kept;
  piece.texts.resize(num_kept);
  piece.digests.resize(num_kept);
}

}  // namespace tally::cli

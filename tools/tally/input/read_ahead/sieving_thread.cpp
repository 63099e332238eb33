#include "input/read_ahead/sieving_thread.hpp"

#include "input/read_ahead/sieve.hpp"

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
      if (!hashed.error) sieve(work_, hashed, 0);
      pieces_.set(hashed, Piece::State::sieved);
    } else if (!read_further()) {
      pieces_.wait_for_more_than(seen);
    }
  }
}

/// Sieves what it reads if its turn has come. False if there is nothing to read now.
bool SievingThread::read_further() {
  return supply_.read_further(cutter_, Supply::waits_for_no_pipe, work_,
                              [&](Piece& piece, std::uint64_t number) {
                                const bool sieves = number == next_to_sieve_ || !is_sieved_in_order(work_);
                                if (sieves) begin_to_sieve(piece);
                                return sieves;
                              });
}

void SievingThread::begin_to_sieve(Piece& piece) {
  piece.num_remembered = num_remembered_;
  ++next_to_sieve_;
}

}  // namespace tally::cli

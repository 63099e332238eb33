#include "kmers/exchange.hpp"

#include <utility>

namespace tally::cli {

KmerExchange::KmerExchange(std::size_t num_threads, std::uint32_t kmer_length, Strands strands)
    : kmer_length_(kmer_length), strands_(strands), waiting_for_(num_threads) {
  const std::size_t max_pieces = num_threads + 4;  // four can wait while each thread has one
  pieces_.reserve(max_pieces);
  unused_.reserve(max_pieces);
  for (std::vector<KmerPiece*>& waiting : waiting_for_) waiting.reserve(max_pieces);
}

KmerExchange::Task KmerExchange::next(std::size_t thread) {
  std::unique_lock lock(mutex_);
  std::vector<KmerPiece*>& waiting = waiting_for_[thread];
  while (!is_stopped_) {
    if (!waiting.empty()) {
      KmerPiece* const piece = waiting.front();
      waiting.erase(waiting.begin());
      return {Step::use, piece};
    }
    if (!input_ended_ && unused_.empty() && pieces_.size() < pieces_.capacity()) {
      pieces_.push_back(std::make_unique<KmerPiece>(
          KmerPiece{{}, KmerScanner(kmer_length_, strands_), std::vector<RoutedKmers>(waiting_for_.size())}));
      unused_.push_back(pieces_.back().get());
    }
    if (!input_ended_ && !unused_.empty()) {
      KmerPiece* const piece = unused_.back();
      unused_.pop_back();
      ++num_reading_;
      return {Step::read, piece};
    }
    if (input_ended_ && num_reading_ == 0) break;
    changed_.wait(lock);
  }
  return {};
}

void KmerExchange::deliver(std::size_t thread, KmerPiece* piece) noexcept {
  const std::lock_guard lock(mutex_);
  piece->num_left = 1;  // the caller
  for (std::size_t owner = 0; owner < waiting_for_.size(); ++owner) {
    if (owner == thread || piece->kmers_of[owner].entries.empty()) continue;
    waiting_for_[owner].push_back(piece);
    ++piece->num_left;
  }
  --num_reading_;
  changed_.notify_all();
}

void KmerExchange::end_input(KmerPiece* piece, std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!error_of_input_) error_of_input_ = std::move(error);
  unused_.push_back(piece);
  input_ended_ = true;
  --num_reading_;
  changed_.notify_all();
}

void KmerExchange::finish(KmerPiece* piece) noexcept {
  const std::lock_guard lock(mutex_);
  if (--piece->num_left > 0) return;
  unused_.push_back(piece);
  changed_.notify_all();
}

void KmerExchange::stop() noexcept {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

}  // namespace tally::cli

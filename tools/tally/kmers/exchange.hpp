#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/kmer_scanner.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally::cli {

/// The owner of a k-mer. Each has a range of the words of a SharedDuplicateFilter, so that two change the same line only where
/// their ranges meet.
inline std::size_t owner_of(Hash128 digest, std::size_t num_owners) noexcept {
  return reduce_to_range(digest.low, num_owners);
}

/// K-mers of one owner. Of k-mers whose entries are exact, there are only entries.
struct RoutedKmers {
  std::vector<std::uint64_t> entries;
  std::vector<Hash128> digests;
  std::vector<std::string_view> texts;  // in the piece

  void clear() noexcept {
    entries.clear();
    digests.clear();
    texts.clear();
  }
};

/// A piece of the input, with the k-mers of each owner.
struct KmerPiece {
  std::string bases;
  KmerScanner scanner;  // has their reverse complement
  std::vector<RoutedKmers> kmers_of;
  std::size_t num_left = 0;  // threads that have not finished it; for KmerExchange
};

/// Hands pieces from the threads that read them to the threads that own their k-mers. A thread that waits sleeps.
///
/// Each thread calls `next` until it returns `end`, and does what it says. The number of pieces is bounded, so that a slow
/// owner makes the others wait instead of taking memory.
class KmerExchange {
 public:
  enum class Step : std::uint8_t { read, use, end };
  struct Task {
    Step step = Step::end;
    KmerPiece* piece = nullptr;
  };

  /// Each thread is the owner of its number.
  KmerExchange(std::size_t num_threads, std::uint32_t kmer_length, Strands strands);

  /// Read into this piece, then call `deliver` or `end_input`; or use the own k-mers of this piece, then call `finish`. Throws
  /// std::bad_alloc.
  Task next(std::size_t thread);

  /// The caller still has to use its own k-mers, and to call `finish`.
  void deliver(std::size_t thread, KmerPiece* piece) noexcept;
  /// Also if it could not be read further, because of this error: all that was read before is used nevertheless.
  void end_input(KmerPiece* piece, std::exception_ptr error = nullptr) noexcept;
  void finish(KmerPiece* piece) noexcept;

  /// For one thread, after the others have ended.
  void rethrow_error_of_input() const {
    if (error_of_input_) std::rethrow_exception(error_of_input_);
  }

  /// Every later `next` returns `end`.
  void stop() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t kmer_length_;
  Strands strands_;
  std::vector<std::unique_ptr<KmerPiece>> pieces_;
  std::vector<KmerPiece*> unused_;
  std::vector<std::vector<KmerPiece*>> waiting_for_;  // each owner, the latest last
  std::size_t num_reading_ = 0;
  bool input_ended_ = false;
  std::exception_ptr error_of_input_;  // the first one
  bool is_stopped_ = false;
};

}  // namespace tally::cli

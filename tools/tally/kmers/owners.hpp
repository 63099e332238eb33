#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <span>
#include <string>

#include "kmers/exchange.hpp"
#include "kmers/loop.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {

/// Longer k-mers are represented by 64 bits of their digests.
inline std::uint64_t entry_of(Hash128 digest) { return std::max<std::uint64_t>(1, digest.high); }

/// A set for each owner of k-mers; they take at most `max_bytes` together, as one Set of that size does.
template <class Set>
class SetsOfOwners {
 public:
  /// One for each thread; one for all of them if that would be too small.
  SetsOfOwners(std::uint64_t max_bytes, std::uint32_t num_threads) {
    constexpr std::uint64_t least_bytes = std::uint64_t{64} << 10;
    const std::uint64_t num_owners = max_bytes / least_bytes < num_threads ? 1 : num_threads;
    for (std::uint64_t i = 0; i < num_owners; ++i) sets_.emplace_back(max_bytes / num_owners);
  }

  std::size_t num_owners() const noexcept { return sets_.size(); }
  Set& operator[](std::size_t owner) noexcept { return sets_[owner]; }

  std::uint64_t size() const noexcept {
    return sum_of([](const Set& set) { return set.size(); });
  }
  std::uint64_t num_bytes() const noexcept {
    return sum_of([](const Set& set) { return set.num_bytes(); });
  }

 private:
  template <class Value>
  std::uint64_t sum_of(Value value) const noexcept {
    std::uint64_t sum = 0;
    for (const Set& set : sets_) sum += value(set);
    return sum;
  }

  std::deque<Set> sets_;  // which cannot be moved
};

/// Reads pieces, and sorts their k-mers by owner.
class KmerRouter {
 public:
  KmerRouter(const KmersOptions& options, const KeyHasher& hasher, SequenceReader& reader)
      : is_exact_(options.kmer_length <= max_exact_kmer_length), hasher_(hasher), reader_(reader) {}

  /// False at the end of the input. Adds the number of k-mers to `num_kmers`.
  bool read(KmerPiece& piece, std::atomic<std::uint64_t>& num_kmers) {
    for (RoutedKmers& kmers : piece.kmers_of) kmers.clear();
    if (!reader_.next(piece.bases)) return false;
    piece.scanner.start(piece.bases);
    std::uint64_t count = 0;
    for (auto kmers = piece.scanner.next(); !kmers.empty(); kmers = piece.scanner.next()) {
      if (is_exact_) {
        route(piece.scanner.entries(), piece.kmers_of);
      } else {
        route(kmers, piece.kmers_of);
      }
      count += kmers.size();
    }
    num_kmers += count;
    return true;
  }

 private:
  void route(Entries entries, std::span<RoutedKmers> kmers_of) const {
    for (const std::uint64_t entry : entries)
      kmers_of[owner_of(hasher_(entry), kmers_of.size())].entries.push_back(entry);
  }

  void route(Kmers kmers, std::span<RoutedKmers> kmers_of) {
    hash_all(hasher_, kmers, digests_);
    for (std::size_t i = 0; i < kmers.size(); ++i) {
      RoutedKmers& own = kmers_of[owner_of(digests_[i], kmers_of.size())];
      own.entries.push_back(entry_of(digests_[i]));
      own.digests.push_back(digests_[i]);
      own.texts.push_back(kmers[i]);
    }
  }

  bool is_exact_;
  KeyHasher hasher_;
  SequenceReader& reader_;
  Batch<Hash128> digests_{};
};

/// As for_each_kmer_batch, but if there are several owners, the result of make_use(i) gets all k-mers of owner i and no others,
/// as RoutedKmers and the first of a batch of them. So no two threads change the same lines of memory. With one owner, all
/// threads call make_use(0).
template <class MakeUse>
KmerTotals for_each_kmer_of_owners(const KmersOptions& options, const KeyHasher& hasher,
                                   std::size_t num_owners, MakeUse make_use,
                                   const std::function<std::string()>& found) {
  if (num_owners == 1)
    return for_each_kmer_batch(
        options, [&] { return make_use(0); }, found);
  return read_all(options, found, [&](SequenceReader& reader, std::atomic<std::uint64_t>& num_kmers) {
    KmerExchange exchange(num_owners, options.kmer_length, options.strands());
    const auto work = [&](std::uint32_t owner) {
      auto use = make_use(owner);
      KmerRouter router(options, hasher, reader);
      for (KmerExchange::Task task = exchange.next(owner); task.step != KmerExchange::Step::end;
           task = exchange.next(owner)) {
        if (task.step == KmerExchange::Step::read) {
          bool has_kmers = false;
          const std::exception_ptr error = caught([&] { has_kmers = router.read(*task.piece, num_kmers); });
          if (error) reader.stop();
          if (!has_kmers) {
            exchange.end_input(task.piece, error);
            continue;
          }
          exchange.deliver(owner, task.piece);
        }
        const RoutedKmers& kmers = task.piece->kmers_of[owner];
        for (std::size_t first = 0; first < kmers.entries.size(); first += KmerScanner::max_kmers_per_call)
          use(kmers, first);
        use.end_piece();
        exchange.finish(task.piece);
        Meanwhile::run(false);
      }
    };
    run_threads(options.num_threads, work, [&] {
      reader.stop();
      exchange.stop();
    });
    exchange.rethrow_error_of_input();
  });
}

}  // namespace tally::cli

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "kmers/filter.hpp"
#include "kmers/loop.hpp"
#include "kmers/owners.hpp"
#include "kmers/packed_kmers.hpp"

namespace tally::cli {

/// Passes each k-mer whose count reaches the lower count to `Reported`, for one of the threads that count.
///
/// A filter of bits is asked first: it costs one cache line, and most k-mers that occur once need no search in the table of
/// reported k-mers. Before a filter of counters, which costs several lines, the table is searched: for deep reads this
/// finishes most k-mers. Reported has
/// find(entries, results): results[i] = whether the k-mer has been reported, and
/// report(kmer, entry, count), which may be called again for the same k-mer, and
/// end_piece().
template <class Reported>
class KmerFinder {
 public:
  /// `filter` is null if the first occurrence of a k-mer reports it.
  KmerFinder(const KmersOptions& options, const KeyHasher& hasher, KmerFilter* filter, Reported reported)
      : is_exact_(options.kmer_length <= max_exact_kmer_length),
        text_(std::min(options.kmer_length, max_exact_kmer_length)),
        lower_count_(options.lower_count),
        hasher_(hasher),
        filter_(filter),
        reported_(std::move(reported)) {}

  /// A batch of KmerScanner.
  void operator()(Kmers kmers, Entries entries) {
    if (is_exact_) {
      find(
          entries, [&](std::size_t i) { return kmers[i]; }, digest_of_entry(entries));
    } else {
      hash_all(hasher_, kmers, digests_);
      for (std::size_t i = 0; i < kmers.size(); ++i) entries_[i] = entry_of(digests_[i]);
      find(
          std::span(entries_).first(kmers.size()), [&](std::size_t i) { return kmers[i]; },
          [&](std::size_t i) { return digests_[i]; });
    }
  }

  /// A batch of k-mers of the own owner, from number `first` on.
  void operator()(const RoutedKmers& kmers, std::size_t first) {
    const Entries entries = Entries(kmers.entries).subspan(first);
    const Entries batch = entries.first(std::min(entries.size(), KmerScanner::max_kmers_per_call));
    if (is_exact_) {
      find(
          batch, [&](std::size_t i) { return text_.of_entry(batch[i]); }, digest_of_entry(batch));
    } else {
      find(
          batch, [&](std::size_t i) { return kmers.texts[first + i]; },
          [&](std::size_t i) { return kmers.digests[first + i]; });
    }
  }

  void end_piece() { reported_.end_piece(); }

 private:
  auto digest_of_entry(Entries entries) const {
    return [this, entries](std::size_t i) { return hasher_(entries[i]); };
  }

  /// text_of(i) and digest_of(i) are those of entries[i]; few of the texts are needed.
  template <class TextOf, class DigestOf>
  void find(Entries entries, TextOf text_of, DigestOf digest_of) {
    num_left_ = entries.size();
    for (std::size_t i = 0; i < num_left_; ++i) left_[i] = static_cast<std::uint32_t>(i);
    if (filter_ != nullptr && filter_->is_of_bits()) {
      filter_out(digest_of);
      leave_out_reported(entries);
    } else {
      leave_out_reported(entries);
      filter_out(digest_of);
    }
    for (std::size_t l = 0; l < num_left_; ++l)
      reported_.report(text_of(left_[l]), entries[left_[l]], counts_[l].value);
  }

  template <class DigestOf>
  void filter_out(DigestOf digest_of) {
    if (filter_ == nullptr) return counts_.fill({1, false});
    for (std::size_t l = 0; l < num_left_; ++l) left_digests_[l] = digest_of(left_[l]);
    filter_->insert_and_count(first_left(left_digests_), first_left(counts_));
    keep([&](std::size_t l) { return counts_[l].value >= lower_count_; });
  }

  void leave_out_reported(Entries entries) {
    for (std::size_t l = 0; l < num_left_; ++l) left_entries_[l] = entries[left_[l]];
    reported_.find(first_left(left_entries_), first_left(is_reported_));
    keep([&](std::size_t l) { return !is_reported_[l]; });
  }

  template <class Value>
  std::span<Value> first_left(Batch<Value>& values) const {
    return std::span(values).first(num_left_);
  }

  /// Without a branch on what is kept, which would often be mispredicted.
  template <class IsKept>
  void keep(IsKept is_kept) {
    std::size_t num_kept = 0;
    for (std::size_t l = 0; l < num_left_; ++l) {
      left_[num_kept] = left_[l];
      counts_[num_kept] = counts_[l];
      num_kept += is_kept(l);
    }
    num_left_ = num_kept;
  }

  bool is_exact_;
  KmerText<1> text_;  // of exact entries
  std::uint64_t lower_count_;
  KeyHasher hasher_;
  KmerFilter* filter_;
  Reported reported_;
  Batch<Hash128> digests_{};  // of long k-mers
  Batch<std::uint64_t> entries_{};
  // What is left of the batch: the places of its k-mers in it, and what belongs to them.
  std::size_t num_left_ = 0;
  Batch<std::uint32_t> left_{};
  Batch<std::uint64_t> left_entries_{};
  Batch<Hash128> left_digests_{};
  Batch<bool> is_reported_{};
  Batch<Count> counts_{};
};

}  // namespace tally::cli

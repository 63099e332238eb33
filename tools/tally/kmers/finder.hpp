#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "kmers/filter.hpp"
#include "kmers/loop.hpp"

namespace tally::cli {

/// Longer k-mers are represented by 64 bits of their digests.
inline std::uint64_t entry_of(Hash128 digest) { return std::max<std::uint64_t>(1, digest.high); }

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
        lower_count_(options.lower_count),
        hasher_(hasher),
        filter_(filter),
        reported_(std::move(reported)) {}

  void operator()(Kmers kmers, Entries entries) {
    if (!is_exact_) entries = entries_of_digests(kmers);
    num_left_ = kmers.size();
    for (std::size_t i = 0; i < num_left_; ++i) left_[i] = static_cast<std::uint32_t>(i);
    if (filter_ != nullptr && filter_->is_of_bits()) {
      filter_out(entries);
      leave_out_reported(entries);
    } else {
      leave_out_reported(entries);
      filter_out(entries);
    }
    for (std::size_t l = 0; l < num_left_; ++l)
      reported_.report(kmers[left_[l]], entries[left_[l]], counts_[l].value);
  }

  void end_piece() { reported_.end_piece(); }

 private:
  void filter_out(Entries entries) {
    if (filter_ == nullptr) return counts_.fill({1, false});
    for (std::size_t l = 0; l < num_left_; ++l)
      left_digests_[l] = is_exact_ ? hasher_(entries[left_[l]]) : digests_[left_[l]];
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

  Entries entries_of_digests(Kmers kmers) {
    hash_all(hasher_, kmers, digests_);
    for (std::size_t i = 0; i < kmers.size(); ++i) entries_[i] = entry_of(digests_[i]);
    return std::span(entries_).first(kmers.size());
  }

  bool is_exact_;
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

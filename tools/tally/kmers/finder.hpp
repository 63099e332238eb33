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
/// The table of reported k-mers is searched first: for deep reads this finishes most k-mers. Reported has
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
    reported_.find(entries, std::span(is_reported_).first(kmers.size()));
    std::size_t num_left = 0;
    for (std::size_t i = 0; i < kmers.size(); ++i) {
      left_[num_left] = static_cast<std::uint32_t>(i);
      num_left += !is_reported_[i];
    }
    if (filter_ == nullptr) {
      for (std::size_t l = 0; l < num_left; ++l) reported_.report(kmers[left_[l]], entries[left_[l]], 1);
      return;
    }
    for (std::size_t l = 0; l < num_left; ++l)
      left_digests_[l] = is_exact_ ? hasher_(kmers[left_[l]]) : digests_[left_[l]];
    filter_->insert_and_count(std::span(left_digests_).first(num_left), std::span(counts_).first(num_left));
    for (std::size_t l = 0; l < num_left; ++l) {
      if (counts_[l].value >= lower_count_)
        reported_.report(kmers[left_[l]], entries[left_[l]], counts_[l].value);
    }
  }

  void end_piece() { reported_.end_piece(); }

 private:
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
  Batch<Hash128> digests_{};
  Batch<std::uint64_t> entries_{};
  Batch<bool> is_reported_{};
  Batch<std::uint32_t> left_{};
  Batch<Hash128> left_digests_{};
  Batch<Count> counts_{};
};

}  // namespace tally::cli

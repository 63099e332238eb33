#pragma once

#include <cstdint>
#include <vector>

namespace tally::test {

__extension__ using Wide = unsigned __int128;

/// The exact twin of a filter: how often each of the keys 0 .. universe - 1 is in it.
/// Counts are 128 bits wide, so that a twin is still exact where 64-bit counters saturate.
class ExactMultiset {
 public:
  explicit ExactMultiset(std::uint64_t universe) : counts_(universe), place_(universe) {}

  std::uint64_t universe() const noexcept { return counts_.size(); }
  Wide count(std::uint64_t key) const { return counts_.at(key); }
  bool empty() const noexcept { return present_.empty(); }

  /// The keys in the multiset, each once, in no order.
  const std::vector<std::uint64_t>& present() const noexcept { return present_; }

  void insert(std::uint64_t key, Wide times = 1) {
    if (times == 0) return;
    if (counts_.at(key) == 0) {
      place_[key] = present_.size();
      present_.push_back(key);
    }
    counts_[key] += times;
  }

  /// Removes one occurrence; the key must be there.
  void remove(std::uint64_t key) {
    if (--counts_.at(key) != 0) return;
    const std::uint64_t last = present_.back();
    present_[place_[key]] = last;
    place_[last] = place_[key];
    present_.pop_back();
  }

  void merge(const ExactMultiset& other) {
    const std::vector<std::uint64_t> theirs = other.present_;  // `other` may be this one
    for (const std::uint64_t key : theirs) insert(key, other.counts_[key]);
  }

  /// Halves every count, rounded up.
  void halve() {
    for (Wide& count : counts_) count = count / 2 + count % 2;
  }

 private:
  std::vector<Wide> counts_;
  std::vector<std::uint64_t> place_;  // of a present key in present_
  std::vector<std::uint64_t> present_;
};

}  // namespace tally::test

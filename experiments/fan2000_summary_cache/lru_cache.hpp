#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tally::experiments {

/// A cache of `capacity` documents, numbers below num_documents; evicts the least recently requested first.
class LruCache {
 public:
  LruCache(std::uint32_t capacity, std::uint32_t num_documents)
      : capacity_(capacity),
        end_(num_documents),
        next_(num_documents + 1, absent),
        before_(num_documents + 1) {
    next_[end_] = before_[end_] = end_;
  }

  bool contains(std::uint32_t document) const { return next_[document] != absent; }
  std::uint32_t size() const { return size_; }
  bool is_full() const { return size_ == capacity_; }

  void touch(std::uint32_t document) {
    unlink(document);
    link_first(document);
  }

  /// Inserts a document that is absent; returns the one that went for it.
  std::optional<std::uint32_t> insert(std::uint32_t document) {
    std::optional<std::uint32_t> evicted;
    if (is_full()) {
      evicted = before_[end_];
      unlink(*evicted);
      next_[*evicted] = absent;
    } else {
      ++size_;
    }
    link_first(document);
    return evicted;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t at = next_[end_]; at != end_; at = next_[at]) visit(at);
  }

 private:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  void unlink(std::uint32_t document) {
    next_[before_[document]] = next_[document];
    before_[next_[document]] = before_[document];
  }
  void link_first(std::uint32_t document) {
    next_[document] = next_[end_];
    before_[document] = end_;
    before_[next_[end_]] = document;
    next_[end_] = document;
  }

  std::uint32_t capacity_;
  std::uint32_t end_;  // the ring's head and tail
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> before_;
};

}  // namespace tally::experiments

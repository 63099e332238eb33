#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

namespace tally::experiments {

using Blocks = std::span<const std::uint64_t>;

/// A worker's cache of blocks. It evicts the least recently used one, and of one request the last block first, so that what is
/// left of it is a prefix.
class PrefixCache {
 public:
  explicit PrefixCache(std::size_t capacity) : capacity_(capacity) {}

  /// How many leading blocks are there.
  std::size_t prefix_length(Blocks blocks) const {
    std::size_t length = 0;
    while (length < blocks.size() && places_.contains(blocks[length])) ++length;
    return length;
  }

  /// Takes in all blocks of a request. Calls inserted(block) and removed(block) for what comes and goes.
  template <class Inserted, class Removed>
  void use(Blocks blocks, Inserted inserted, Removed removed) {
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const auto [place, is_new] = places_.try_emplace(blocks[i], newest_first_.end());
      if (is_new) {
        newest_first_.push_front(blocks[i]);
        place->second = newest_first_.begin();
        inserted(blocks[i]);
      } else {
        newest_first_.splice(newest_first_.begin(), newest_first_, place->second);
      }
    }
    for (; places_.size() > capacity_; newest_first_.pop_back()) {
      removed(newest_first_.back());
      places_.erase(newest_first_.back());
    }
  }

  std::size_t size() const { return places_.size(); }

 private:
  std::size_t capacity_;
  std::list<std::uint64_t> newest_first_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

}  // namespace tally::experiments

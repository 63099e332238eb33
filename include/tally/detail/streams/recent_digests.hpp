#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tally/hashing/hash128.hpp"

namespace tally::detail {

/// A queue of digests that can be searched: they are numbered in the order in which they come, from 0 on.
class RecentDigests {
 public:
  /// For one more. Throws std::bad_alloc, and nothing has changed then.
  void make_room() {
    if (digests_.size() < std::min(digests_.capacity(), before_.capacity())) return;
    const std::size_t capacity = 2 * digests_.size() + 1;
    digests_.reserve(capacity);
    before_.reserve(capacity);
  }

  /// After make_room.
  void add(Hash128 digest) noexcept {
    std::uint64_t& last = last_of_slot_[slot_of(digest)];
    digests_.push_back(digest);
    before_.push_back(last);
    last = size();
  }

  /// Whether it is among the digests from number `first` on, none of which may have been dropped.
  bool contains(Hash128 digest, std::uint64_t first) const noexcept {
    std::uint64_t end = last_of_slot_[slot_of(digest)];  // one more than a number
    while (end > first) {
      const std::uint64_t at = end - 1 - num_dropped_;
      if (digests_[at] == digest) return true;
      end = before_[at];
    }
    return false;
  }

  /// How many came, dropped ones included.
  std::uint64_t size() const noexcept { return num_dropped_ + digests_.size(); }

  /// Those from number `first` on; valid until the next change.
  std::span<const Hash128> from(std::uint64_t first) const noexcept {
    return std::span(digests_).subspan(first - num_dropped_);
  }

  /// Those before number `first` may be forgotten.
  void drop_before(std::uint64_t first) {
    const std::uint64_t count = first - num_dropped_;
    if (2 * count < digests_.size()) return;  // so that no more are moved than are dropped
    digests_.erase(digests_.begin(), digests_.begin() + static_cast<std::ptrdiff_t>(count));
    before_.erase(before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(count));
    num_dropped_ = first;
  }

 private:
  static constexpr std::size_t num_slots = std::size_t{1} << 13;
  static std::size_t slot_of(Hash128 digest) noexcept { return digest.low % num_slots; }

  std::vector<Hash128> digests_;
  std::vector<std::uint64_t> before_;  // what last_of_slot_ was before each of them
  std::vector<std::uint64_t> last_of_slot_ =
      std::vector<std::uint64_t>(num_slots);  // its number and one, or 0
  std::uint64_t num_dropped_ = 0;
};

}  // namespace tally::detail

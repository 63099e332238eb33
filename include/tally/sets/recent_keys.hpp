#pragma once

#include <algorithm>
#include <cstdint>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// Remembers the digests of recent keys in bounded memory, and forgets old ones.
///
/// A digest belongs to one 64-byte line of four, the most recent first; a new digest pushes out the oldest of
/// its line. So `insert` never mistakes a new key for an old one (except for two keys with the same digest,
/// 2^-128 per pair, unless someone chose keys against the seed), but it may mistake a forgotten key for a new
/// one.
/// Threads: const functions may run concurrently; a write needs exclusive access.
class RecentKeys {
 public:
  static constexpr std::uint64_t digests_per_line = 4;

  /// At least one line; throws std::bad_alloc if there is not enough memory.
  explicit RecentKeys(std::uint64_t num_bytes)
      : num_lines_(std::max<std::uint64_t>(1, num_bytes / 64)), words_(8 * num_lines_) {}

  RecentKeys(const RecentKeys&) = default;
  RecentKeys(RecentKeys&&) noexcept = default;
  RecentKeys& operator=(const RecentKeys& other) { return *this = RecentKeys(other); }
  RecentKeys& operator=(RecentKeys&&) noexcept = default;
  ~RecentKeys() = default;

  /// Makes the digest the most recent of its line; returns whether it was absent.
  [[nodiscard]] bool insert(Hash128 digest) noexcept {
    digest.high += digest == Hash128{};
    std::uint64_t* line = words_.data() + 8 * reduce_to_range(digest.low, num_lines_);
    std::uint64_t at = 0;
    while (at < digests_per_line && (line[2 * at] != digest.low || line[2 * at + 1] != digest.high)) ++at;
    const bool is_new = at == digests_per_line;
    num_forgotten_ += is_new && (line[6] | line[7]) != 0;
    std::copy_backward(line, line + 2 * std::min(at, digests_per_line - 1),
                       line + 2 * std::min(at, digests_per_line - 1) + 2);
    line[0] = digest.low;
    line[1] = digest.high;
    return is_new;
  }

  /// Forgets all digests, which num_forgotten() does not count.
  void clear() noexcept {
    words_.clear();
    num_forgotten_ = 0;
  }

  void prefetch(Hash128 digest) const noexcept {
    detail::prefetch_for_write(words_.data() + 8 * reduce_to_range(digest.low, num_lines_));
  }

  /// The number of digests pushed out so far: while it is 0, no key was mistaken for a new one.
  std::uint64_t num_forgotten() const noexcept { return num_forgotten_; }
  std::uint64_t num_bytes() const noexcept { return 8 * words_.size(); }

 private:
  std::uint64_t num_lines_;
  detail::AlignedWords words_;
  std::uint64_t num_forgotten_ = 0;
};

}  // namespace tally

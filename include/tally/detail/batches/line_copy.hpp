#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tally::detail {

/// A copy of a line that several threads use, for functions for one thread. Each word is read and written in one step, and
/// one thread at a time may write to a line. So a reader finds every word as it was before or after a change.
struct LineCopy {
  static constexpr std::size_t num_words = 8;

  std::array<std::uint64_t, num_words> words;

  explicit LineCopy(std::uint64_t* line) noexcept {
    for (std::size_t i = 0; i < num_words; ++i)
      words[i] = std::atomic_ref(line[i]).load(std::memory_order_relaxed);
  }
  void write_to(std::uint64_t* line) const noexcept {
    for (std::size_t i = 0; i < num_words; ++i)
      std::atomic_ref(line[i]).store(words[i], std::memory_order_relaxed);
  }
};

}  // namespace tally::detail

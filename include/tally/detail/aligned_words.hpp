#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/export.hpp"

namespace tally::detail {

/// The sole owner of a structure's memory: 64-bit words, the first one aligned to a 64-byte line.
///
/// New words are zero. Blocks from 4 MiB on come directly from the kernel and are returned to it immediately.
/// They request transparent huge pages, which make random reads of large tables cheaper. Smaller ones come from
/// the C library.
/// A host can have all blocks come from its own functions (memory.hpp).
/// Alternatively, the words are part of a block that somebody else made (a read-only mapping of a file); such words can
/// be reached only through const structures. A copy always has a block of its own.
///
/// There is no copy assignment. If a structure were copy-assigned member by member and memory ran out, it
/// would have a new shape and old words. So a structure implements its own assignment: copy, then move.
///
/// Throws std::bad_alloc if there is not enough memory.
class TALLY_EXPORT AlignedWords {
 public:
  /// A block of memory, and the function that gives it back.
  struct Block {
    void* memory = nullptr;
    std::uint64_t num_bytes = 0;
    void (*release)(void* memory, std::size_t num_bytes) noexcept = nullptr;
  };

  AlignedWords() = default;
  explicit AlignedWords(std::uint64_t num_words);

  /// Read-only words in `block`, which is given back when they are no longer needed.
  AlignedWords(const std::uint64_t* words, std::uint64_t num_words, const Block& block) noexcept;

  AlignedWords(const AlignedWords& other);
  AlignedWords& operator=(const AlignedWords& other) = delete;
  AlignedWords(AlignedWords&& other) noexcept;
  AlignedWords& operator=(AlignedWords&& other) noexcept;
  ~AlignedWords();

  std::uint64_t* data() noexcept { return words_; }
  const std::uint64_t* data() const noexcept { return words_; }
  std::uint64_t size() const noexcept { return num_words_; }

  /// Makes all words zero.
  void clear() noexcept;

  /// Whether discard_front gives memory back: it came directly from the kernel.
  bool can_discard() const noexcept;
  /// Forgets what the first words contain. Gives back the whole pages that they occupy, if it can.
  void discard_front(std::uint64_t num_words) noexcept;

  /// Gives the block to the caller, who must give it back. There are no words any more.
  Block release() noexcept;

  /// Forgets all words but the first `num_words`.
  void truncate(std::uint64_t num_words) noexcept { num_words_ = num_words; }

  std::span<std::uint64_t> words() noexcept { return {words_, num_words_}; }
  std::span<const std::uint64_t> words() const noexcept { return {words_, num_words_}; }

  friend bool operator==(const AlignedWords& a, const AlignedWords& b) noexcept { return a.equals(b); }

 private:
  bool equals(const AlignedWords& other) const noexcept;

  Block block_;
  std::uint64_t* words_ = nullptr;
  std::uint64_t num_words_ = 0;
};

}  // namespace tally::detail

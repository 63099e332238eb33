#include "tally/detail/aligned_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::detail {
namespace {

// Around the size from which memory comes straight from the kernel: 4 MiB, 524288 words.
const std::vector<std::uint64_t> sizes = {1, 7, 8, 9, 1000, 524280, 524281, 524288, 524289, 1000000};

AlignedWords numbered(std::uint64_t num_words) {
  AlignedWords words(num_words);
  std::iota(words.words().begin(), words.words().end(), std::uint64_t{1});
  return words;
}

bool is_numbered(const AlignedWords& words, std::uint64_t num_words) {
  if (words.size() != num_words) return false;
  for (std::uint64_t i = 0; i < num_words; ++i) {
    if (words.data()[i] != i + 1) return false;
  }
  return true;
}

TEST(AlignedWords, FreshWordsAreZeroAndStartOnALine) {
  for (const std::uint64_t size : sizes) {
    const AlignedWords words(size);
    EXPECT_EQ(words.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(words.data()) % 64, 0u) << size;
    EXPECT_EQ(std::accumulate(words.words().begin(), words.words().end(), std::uint64_t{0}), 0u) << size;
  }
}

TEST(AlignedWords, NoWordsNeedNoMemory) {
  EXPECT_EQ(AlignedWords().size(), 0u);
  EXPECT_EQ(AlignedWords(0).data(), nullptr);
  const AlignedWords copy = AlignedWords(0);
  EXPECT_EQ(copy.size(), 0u);
}

// A structure that was assigned member by member could have a new shape and old words.
static_assert(!std::is_copy_assignable_v<AlignedWords>);

TEST(AlignedWords, ACopyHasItsOwnWords) {
  for (const std::uint64_t size : sizes) {
    AlignedWords words = numbered(size);
    const AlignedWords copy = words;
    words.data()[0] = 99;
    EXPECT_TRUE(is_numbered(copy, size)) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.data()) % 64, 0u);
  }
}

TEST(AlignedWords, AMoveTakesTheWordsAndLeavesNone) {
  for (const std::uint64_t size : sizes) {
    AlignedWords words = numbered(size);
    const std::uint64_t* address = words.data();
    AlignedWords moved = std::move(words);
    EXPECT_TRUE(is_numbered(moved, size));
    EXPECT_EQ(moved.data(), address);
    EXPECT_EQ(words.size(), 0u);  // NOLINT: that is the law
    EXPECT_EQ(words.data(), nullptr);
    words = std::move(moved);
    EXPECT_TRUE(is_numbered(words, size));
    EXPECT_EQ(moved.size(), 0u);  // NOLINT
  }
}

TEST(AlignedWords, ABorrowedBlockIsGivenBackOnceAfterTheLastMoveAndCopiedByACopy) {
  struct Owner {
    std::array<std::uint64_t, 4> words{0, 1, 2, 3};
    int num_releases = 0;
  } owner;
  const auto release = [](void* memory, std::uint64_t num_bytes) noexcept {
    if (num_bytes == sizeof(Owner)) ++static_cast<Owner*>(memory)->num_releases;
  };
  {
    AlignedWords borrowed(owner.words.data() + 1, 3, {&owner, sizeof owner, release});
    EXPECT_TRUE(is_numbered(borrowed, 3));
    const AlignedWords copy = borrowed;
    EXPECT_NE(copy.data(), borrowed.data());
    EXPECT_TRUE(is_numbered(copy, 3));
    AlignedWords moved = std::move(borrowed);
    AlignedWords assigned = numbered(5);
    assigned = std::move(moved);
    EXPECT_EQ(assigned.data(), owner.words.data() + 1);
    AlignedWords& same = assigned;
    assigned = std::move(same);
    EXPECT_TRUE(is_numbered(assigned, 3));
    EXPECT_EQ(owner.num_releases, 0);
  }
  EXPECT_EQ(owner.num_releases, 1);
}

TEST(AlignedWords, AreEqualIfTheirWordsAreAndClearMakesAllOfThemZero) {
  for (const std::uint64_t size : sizes) {
    AlignedWords words = numbered(size);
    EXPECT_TRUE(words == numbered(size));
    EXPECT_FALSE(words == numbered(size + 1));
    words.clear();
    EXPECT_TRUE(words == AlignedWords(size));
    words.data()[size - 1] = 1;
    EXPECT_FALSE(words == AlignedWords(size));
  }
}

TEST(AlignedWords, MemoryThatIsNotToBeHadIsRefused) {
  EXPECT_THROW(AlignedWords(std::uint64_t{1} << 50), std::bad_alloc);
  EXPECT_THROW(AlignedWords(std::uint64_t{1} << 60), std::bad_alloc);
  EXPECT_THROW(AlignedWords(std::uint64_t{1} << 61), std::invalid_argument);
  EXPECT_THROW(AlignedWords(~std::uint64_t{0}), std::invalid_argument);
}

}  // namespace
}  // namespace tally::detail

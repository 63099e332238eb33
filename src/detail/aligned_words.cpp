#include "tally/detail/aligned_words.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "tally/detail/checked_math.hpp"
#include "tally/memory.hpp"

namespace tally::detail {
namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t huge_pages_from_bytes = 2 * huge_page_bytes;
// A smaller block is memory that an earlier one left: a structure that grows step by step would spend a fifth to a third of its
// time on giving blocks back to the kernel, which tells every processor that runs one of its threads each time.
constexpr std::uint64_t mapped_from_bytes = huge_pages_from_bytes;
constexpr std::uint64_t page_bytes = std::uint64_t{4} << 10;

void unmap(void* block, std::size_t num_bytes) noexcept { ::munmap(block, num_bytes); }

AlignedWords::Block allocate_from(const MemorySource& source, std::uint64_t num_bytes) {
  void* memory = source.allocate(num_bytes, line_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  assert(reinterpret_cast<std::uintptr_t>(memory) % line_bytes == 0 && "see MemorySource::allocate");
  if (!source.gives_zeros) std::memset(memory, 0, num_bytes);
  return {memory, num_bytes, source.deallocate};
}

AlignedWords::Block allocate_zeroed(std::uint64_t num_bytes) {
  if (num_bytes > std::numeric_limits<std::size_t>::max() / 4) throw std::bad_alloc();
  if (const MemorySource source = memory_source(); source.allocate != nullptr)
    return allocate_from(source, num_bytes);
  if (num_bytes < mapped_from_bytes) {
    void* memory = std::aligned_alloc(line_bytes, num_bytes);
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, 0, num_bytes);
    return {memory, num_bytes, [](void* block, std::size_t) noexcept { std::free(block); }};
  }
  void* memory = ::mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::madvise(memory, num_bytes, MADV_HUGEPAGE);  // a hint only: smaller pages give the same answers
  return {memory, num_bytes, unmap};
}

}  // namespace

AlignedWords::AlignedWords(std::uint64_t num_words) {
  if (num_words == 0) return;
  const std::uint64_t num_bytes =
      checked_mul(round_up(num_words, line_bytes / 8, "words"), 8, "memory in bytes");
  block_ = allocate_zeroed(num_bytes);
  words_ = static_cast<std::uint64_t*>(block_.memory);
  num_words_ = num_words;
}

AlignedWords::AlignedWords(const std::uint64_t* words, std::uint64_t num_words, const Block& block) noexcept
    : block_(block), words_(const_cast<std::uint64_t*>(words)), num_words_(num_words) {}

AlignedWords::AlignedWords(const AlignedWords& other) : AlignedWords(other.num_words_) {
  std::copy_n(other.words_, num_words_, words_);
}

AlignedWords::AlignedWords(AlignedWords&& other) noexcept
    : block_(std::exchange(other.block_, {})),
      words_(std::exchange(other.words_, nullptr)),
      num_words_(std::exchange(other.num_words_, 0)) {}

AlignedWords& AlignedWords::operator=(AlignedWords&& other) noexcept {
  AlignedWords taken(std::move(other));
  std::swap(block_, taken.block_);
  std::swap(words_, taken.words_);
  std::swap(num_words_, taken.num_words_);
  return *this;
}

// A function of the C library, which sanitizers check as a whole and not word by word.
void AlignedWords::clear() noexcept {
  if (num_words_ > 0) std::memset(words_, 0, words().size_bytes());
}

bool AlignedWords::can_discard() const noexcept { return block_.release == unmap; }

void AlignedWords::discard_front(std::uint64_t num_words) noexcept {
  constexpr std::uint64_t words_per_page = page_bytes / 8;
  if (can_discard() && num_words >= words_per_page)
    ::madvise(words_, num_words / words_per_page * page_bytes, MADV_DONTNEED);
}

AlignedWords::Block AlignedWords::release() noexcept {
  words_ = nullptr;
  num_words_ = 0;
  return std::exchange(block_, {});
}

bool AlignedWords::equals(const AlignedWords& other) const noexcept {
  return std::ranges::equal(words(), other.words());
}

AlignedWords::~AlignedWords() {
  if (block_.release != nullptr) block_.release(block_.memory, block_.num_bytes);
}

}  // namespace tally::detail

#include "commands/counted_texts.hpp"

#include <algorithm>

#include "tally/hashing/mix64.hpp"
#include "tally/hashing/random_seed.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t first_slots = 64;
constexpr std::size_t bytes_of_texts = std::size_t{1} << 14;

}  // namespace

CountedTexts::CountedTexts(std::uint64_t max_bytes) : max_bytes_(max_bytes), secret_(random_seed()) {}

std::uint64_t CountedTexts::hash_of(Hash128 digest) const noexcept {
  return mix64((digest.low ^ secret_) * 0x9e3779b97f4a7c15u ^ mix64(digest.high + secret_));
}

// That of the digest, or the empty one where it belongs.
std::size_t CountedTexts::slot_of(Hash128 digest) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(digest) & mask;
  while (slots_[slot] != no_key && !((*this)[slots_[slot]].digest == digest)) slot = (slot + 1) & mask;
  return slot;
}

// The searches of a batch wait for memory together: first for the slots, then for the keys.
void CountedTexts::find_batch(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const {
  if (slots_.empty()) {
    std::fill_n(indices.begin(), digests.size(), not_there);
    return;
  }
  const std::size_t mask = slots_.size() - 1;
  constexpr std::size_t part = 64;
  for (std::size_t first = 0; first < digests.size(); first += part) {
    const std::size_t end = std::min(first + part, digests.size());
    for (std::size_t i = first; i < end; ++i) __builtin_prefetch(&slots_[hash_of(digests[i]) & mask]);
    for (std::size_t i = first; i < end; ++i) {
      const std::uint32_t index = slots_[hash_of(digests[i]) & mask];
      if (index != no_key) __builtin_prefetch(&(*this)[index], 1);
    }
    for (std::size_t i = first; i < end; ++i) indices[i] = slots_[slot_of(digests[i])];
  }
}

bool CountedTexts::insert(Hash128 digest, std::uint64_t count, std::string_view text) {
  is_full_ = is_full_ || !make_room(text.size());
  if (is_full_) return false;
  char* const copy = next_text_;
  std::copy(text.begin(), text.end(), copy);
  next_text_ += text.size();
  text_room_ -= text.size();
  at(size_) = {digest, count, copy, text.size()};
  slots_[slot_of(digest)] = static_cast<std::uint32_t>(size_++);
  return true;
}

bool CountedTexts::take(std::uint64_t num_bytes) noexcept {
  if (num_bytes > max_bytes_ - num_bytes_) return false;
  num_bytes_ += num_bytes;
  return true;
}

bool CountedTexts::make_room(std::size_t text_size) {
  if (size_ + 1 >= no_key || (3 * (size_ + 1) > 2 * slots_.size() && !grow_slots())) return false;
  if (size_ == chunks_.size() * chunk_size) {
    if (!take(chunk_size * sizeof(Counted))) return false;
    chunks_.push_back(std::make_unique<Counted[]>(chunk_size));
  }
  if (text_size > text_room_ || next_text_ == nullptr) {
    const std::size_t num_bytes = std::max(text_size, std::min(bytes_of_texts, 512 * (1 + texts_.size())));
    if (!take(num_bytes)) return false;
    texts_.push_back(std::make_unique<char[]>(num_bytes));
    next_text_ = texts_.back().get();
    text_room_ = num_bytes;
  }
  return true;
}

bool CountedTexts::grow_slots() {
  const std::size_t num_slots = std::max(first_slots, 2 * slots_.size());
  if (!take(4 * num_slots)) return false;
  std::vector<std::uint32_t> before(num_slots, no_key);
  before.swap(slots_);
  for (const std::uint32_t index : before) {
    if (index != no_key) slots_[slot_of((*this)[index].digest)] = index;
  }
  num_bytes_ -= 4 * before.size();
  return true;
}

}  // namespace tally::cli

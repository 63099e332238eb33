#include "tally/sets/shared_entry_set.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace tally {
namespace {

constexpr std::uint64_t least_words = 2048;
constexpr std::uint64_t first_words = std::uint64_t{1} << 16;

}  // namespace

SharedEntrySet::SharedEntrySet(std::uint64_t max_bytes, detail::ProcessSalt salt)
    : words_(std::clamp(max_bytes / 8, least_words, first_words)), max_bytes_(max_bytes), salt_(salt) {}

void SharedEntrySet::contains_batch(std::span<const std::uint64_t> entries, std::span<bool> results) const {
  const std::shared_lock here(growing_);
  const std::uint64_t* const end = words_.data() + words_.size();
  constexpr std::size_t distance = 32;
  for (std::size_t i = 0; i < std::min(distance, entries.size()); ++i)
    detail::prefetch_for_read(slot_of(words_, entries[i]));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i + distance < entries.size()) detail::prefetch_for_read(slot_of(words_, entries[i + distance]));
    std::uint64_t* slot = slot_of(words_, entries[i]);
    std::uint64_t seen = Slot(*slot).load(std::memory_order_relaxed);
    while (seen != 0 && seen != entries[i]) {
      if (++slot == end) slot -= words_.size();
      seen = Slot(*slot).load(std::memory_order_relaxed);
    }
    results[i] = seen != 0;
  }
}

SharedEntrySet::Outcome SharedEntrySet::insert(std::uint64_t entry) {
  while (true) {
    {
      const std::shared_lock here(growing_);
      const Outcome outcome = put(entry);
      if (outcome != Outcome::full) return outcome;
    }
    if (!grow()) return Outcome::full;
  }
}

void SharedEntrySet::clear() noexcept {
  const std::unique_lock alone(growing_);
  words_.clear();
  size_ = 0;
}

// A quarter of the slots is free, minus one per thread, so there is always an empty slot where a search ends.
SharedEntrySet::Outcome SharedEntrySet::put(std::uint64_t entry) noexcept {
  const std::uint64_t* const end = words_.data() + words_.size();
  std::uint64_t* slot = slot_of(words_, entry);
  while (true) {
    std::uint64_t seen = Slot(*slot).load(std::memory_order_relaxed);
    if (seen == entry) return Outcome::present;
    if (seen == 0) {
      if (size_ >= max_size()) return Outcome::full;
      if (Slot(*slot).compare_exchange_strong(seen, entry)) {
        ++size_;
        return Outcome::inserted;
      }
      if (seen == entry) return Outcome::present;
    }
    if (++slot == end) slot -= words_.size();
  }
}

std::uint64_t SharedEntrySet::longest_search() const {
  const std::unique_lock alone(growing_);
  std::uint64_t longest = 0;
  for (std::uint64_t at = 0; at < words_.size(); ++at) {
    const std::uint64_t entry = words_.data()[at];
    if (entry == 0) continue;
    const auto home = static_cast<std::uint64_t>(slot_of(words_, entry) - words_.data());
    longest = std::max(longest, 1 + (at >= home ? at - home : at + words_.size() - home));
  }
  return longest;
}

bool SharedEntrySet::grow() {
  const std::unique_lock alone(growing_);
  if (size_ < max_size()) return true;  // another thread was first
  const std::uint64_t most = max_bytes_ / 8 - std::min(max_bytes_ / 8, words_.size());
  const std::uint64_t num_words = std::min(words_.size() + words_.size() / 2, most);
  if (num_words <= words_.size() + words_.size() / 8) return false;
  const detail::AlignedWords before = std::exchange(words_, detail::AlignedWords(num_words));
  size_ = 0;
  for (const std::uint64_t entry : before.words()) {
    if (entry != 0) (void)put(entry);
  }
  return true;
}

}  // namespace tally

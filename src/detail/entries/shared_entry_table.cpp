#include "tally/detail/entries/shared_entry_table.hpp"

#include <limits>
#include <mutex>
#include <utility>

namespace tally::detail {
namespace {

constexpr std::uint64_t bytes_per_line = 64;
constexpr std::uint64_t least_lines = 64;
constexpr std::uint64_t first_lines = std::uint64_t{1} << 13;
// While the table grows: the old lines that have not been given back yet are no more than these.
constexpr std::uint64_t lines_at_a_time = std::uint64_t{1} << 15;
constexpr std::uint64_t lines_ahead = 24;

}  // namespace

template <bool HasCounts>
SharedEntryTable<HasCounts>::SharedEntryTable(std::uint64_t max_bytes, ProcessSalt salt)
    : lines_(words_per_line * std::clamp(max_bytes / bytes_per_line, least_lines, first_lines)),
      max_bytes_(max_bytes),
      salt_(salt) {}

// The size is raised before a slot is taken, so that it never exceeds max_size() and every search ends at an empty slot.
// Another thread may then see a size that is one too high; `grow` looks again when it is alone.
template <bool HasCounts>
auto SharedEntryTable<HasCounts>::put(std::uint64_t entry, Slot& slot) noexcept -> Outcome {
  slot = {home_of(entry), 0};
  bool has_room = false;
  while (true) {
    const Word word(slot.line[slot.at]);
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    if (seen == 0) {
      if (!has_room && size_.fetch_add(1, std::memory_order_relaxed) >= max_size()) {
        size_.fetch_sub(1, std::memory_order_relaxed);
        return Outcome::full;
      }
      has_room = true;
      if (word.compare_exchange_strong(seen, entry)) return Outcome::inserted;
    }
    if (seen == entry) {
      if (has_room) size_.fetch_sub(1, std::memory_order_relaxed);
      return Outcome::present;
    }
    if (++slot.at == entries_per_line) slot = {line_after(slot.line), 0};
  }
}

template <bool HasCounts>
bool SharedEntryTable<HasCounts>::grow() {
  const std::unique_lock alone(growing_);
  if (size_ < max_size()) return true;  // another thread was first
  const std::uint64_t kept = lines_.can_discard() ? std::min(num_lines(), 2 * lines_at_a_time) : num_lines();
  const std::uint64_t most = max_bytes_ / bytes_per_line - std::min(max_bytes_ / bytes_per_line, kept);
  const std::uint64_t wanted = std::min(num_lines() + num_lines() / growth_divisor, most);
  if (wanted <= num_lines() + num_lines() / 20) return false;
  move_from(std::exchange(lines_, AlignedWords(words_per_line * wanted)));
  return true;
}

// Puts a new entry into the first line with room, of which there is one; nobody else uses the table.
template <bool HasCounts>
auto SharedEntryTable<HasCounts>::place_alone(std::uint64_t entry) noexcept -> Slot {
  for (std::uint64_t* line = home_of(entry);; line = line_after(line)) {
    std::size_t num_entries = 0;
    for (std::size_t at = 0; at < entries_per_line; ++at) num_entries += line[at] != 0;
    if (num_entries == entries_per_line) continue;
    line[num_entries] = entry;
    return {line, num_entries};
  }
}

template <bool HasCounts>
void SharedEntryTable<HasCounts>::move_from(AlignedWords before) noexcept {
  const std::uint64_t num_lines_before = before.size() / words_per_line;
  for (std::uint64_t first = 0; first < num_lines_before; ++first) {
    if (first % lines_at_a_time == 0) before.discard_front(words_per_line * first);
    std::uint64_t* const old_line = before.data() + words_per_line * first;
    prefetch_for_read(old_line + words_per_line * lines_ahead);
    for (std::size_t old_at = 0; old_at < entries_per_line && old_line[old_at] != 0; ++old_at) {
      const Slot slot = place_alone(old_line[old_at]);
      if constexpr (HasCounts)
        slot.line[entries_per_line + slot.at / 2] |= std::uint64_t{count_in({old_line, old_at})}
                                                     << slot.at % 2 * 32;
    }
  }
}

// Counts are halves of the words behind the entries.
template <bool HasCounts>
void SharedEntryTable<HasCounts>::add(Slot slot, std::uint32_t amount) noexcept {
  constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
  const Word word(slot.line[entries_per_line + slot.at / 2]);
  const std::size_t shift = slot.at % 2 * 32;
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  std::uint64_t wanted = 0;
  do {
    const std::uint64_t room = max - (seen >> shift & max);
    wanted = seen + (std::min<std::uint64_t>(amount, room) << shift);
  } while (!word.compare_exchange_weak(seen, wanted, std::memory_order_relaxed));
}

template <bool HasCounts>
std::uint32_t SharedEntryTable<HasCounts>::count_in(Slot slot) noexcept {
  const Word word(slot.line[entries_per_line + slot.at / 2]);
  return static_cast<std::uint32_t>(word.load(std::memory_order_relaxed) >> (slot.at % 2 * 32));
}

template <bool HasCounts>
void SharedEntryTable<HasCounts>::clear() noexcept {
  const std::unique_lock alone(growing_);
  lines_.clear();
  size_ = 0;
}

template <bool HasCounts>
std::uint64_t SharedEntryTable<HasCounts>::num_bytes() const noexcept {
  const std::shared_lock here(growing_);
  return bytes_per_line * num_lines();
}

template <bool HasCounts>
std::uint64_t SharedEntryTable<HasCounts>::longest_search() const {
  const std::unique_lock alone(growing_);
  std::uint64_t longest = 0;
  for_each_slot(0, num_lines(), [&](Slot slot) {
    const std::uint64_t* const home = home_of(slot.line[slot.at]);
    const auto words = static_cast<std::uint64_t>(slot.line - home) + (slot.line < home ? lines_.size() : 0);
    longest = std::max(longest, words / words_per_line * entries_per_line + slot.at + 1);
  });
  return longest;
}

template class SharedEntryTable<false>;
template class SharedEntryTable<true>;

}  // namespace tally::detail

#include "tally/sketches/counted_keys.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

constexpr std::uint64_t num_children = CountedKeys::heap_arity;
constexpr std::uint64_t least_growth = 16;  // keys

std::uint64_t num_slots_for(std::uint64_t num_keys) { return std::bit_ceil(2 * num_keys); }

/// The first bits of a digest are the index of one of `num_slots` slots, a power of two of at least two.
std::uint32_t shift_for(std::uint64_t num_slots) {
  return static_cast<std::uint32_t>(64 - std::countr_zero(num_slots));
}

std::uint64_t checked_capacity(std::uint64_t capacity, std::string_view structure) {
  detail::require_in_range(structure, "capacity", capacity, 1, CountedKeys::max_capacity);
  return capacity;
}

}  // namespace

CountedKeys::CountedKeys(std::uint64_t capacity, std::string_view structure, detail::ProcessSalt salt,
                         std::uint64_t num_keys)
    : capacity_(checked_capacity(capacity, structure)), salt_(salt) {
  const std::uint64_t room = std::clamp<std::uint64_t>(num_keys, 1, capacity);
  slots_.resize(num_slots_for(room));
  shift_ = shift_for(slots_.size());
  entries_.reserve(room);
  keys_.reserve(room);
  heap_.reserve(room);
}

CountedKeys::CountedKeys(std::uint64_t capacity, std::string_view structure, detail::ProcessSalt salt)
    : CountedKeys(capacity, structure, salt, capacity) {}

CountedKeys CountedKeys::with_room(std::uint64_t num_keys, std::uint64_t capacity,
                                   std::string_view structure) {
  return {capacity, structure, detail::process_salt(), num_keys};
}

CountedKeys::CountedKeys(std::uint64_t capacity, std::string_view structure, std::vector<Entry> entries,
                         std::vector<std::string> keys, std::vector<HeapNode> heap)
    : CountedKeys(capacity, structure, detail::process_salt(), entries.size()) {
  const std::uint64_t size = entries.size();
  bool fits = size <= capacity && keys.size() == size && heap.size() == size;
  std::vector<bool> is_in_heap(size);
  for (std::uint64_t at = 0; fits && at < size; ++at) {
    const HeapNode& node = heap[at];
    fits = entries[at].error <= entries[at].count && node.entry < size && !is_in_heap[node.entry] &&
           node.count <= entries[node.entry].count &&
           (at == 0 || heap[(at - 1) / num_children].count <= node.count);
    if (fits) is_in_heap[node.entry] = true;
  }
  for (std::uint64_t i = 0; fits && i < size; ++i) {
    fits = find(entries[i].digest) == none;
    entries_.push_back(entries[i]);
    index(static_cast<std::uint32_t>(i));
  }
  if (!fits) {
    detail::throw_parameter_error(structure, "list of keys", "invalid",
                                  "the list that such a table returned");
  }
  keys_ = std::move(keys);
  heap_ = std::move(heap);
}

// Whatever has room stays unchanged. So if there is no memory for the rest, nothing visible has changed.
void CountedKeys::make_room() {
  const std::uint64_t room = std::min(capacity_, std::max(least_growth, 2 * size()));
  const auto grow = [&](auto& list) {
    if (list.size() == list.capacity()) list.reserve(room);
  };
  grow(keys_);
  grow(entries_);
  grow(heap_);
  if (slots_.size() > 2 * size()) return;
  std::vector<std::uint64_t> slots(num_slots_for(room));
  slots.swap(slots_);
  shift_ = shift_for(slots_.size());
  for (const std::uint64_t slot : slots) {
    if (slot != 0) put_in_index(slot);
  }
}

void CountedKeys::put_in_index(std::uint64_t slot) noexcept {
  std::uint64_t at = home(slot);
  while (slots_[at] != 0) at = next(at);
  slots_[at] = slot;
}

void CountedKeys::index(std::uint32_t i) noexcept {
  put_in_index((salted(entries_[i].digest) & tag_mask) | (std::uint64_t{i} + 1));
}

// Entries after the hole move up to it, unless that is before their home slot.
void CountedKeys::remove_from_index(std::uint32_t i) noexcept {
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t hole = home(salted(entries_[i].digest));
  while (entry_in(slots_[hole]) != i) hole = next(hole);
  for (std::uint64_t at = next(hole); slots_[at] != 0; at = next(at)) {
    const std::uint64_t its_home = home(slots_[at]);
    if (((at - its_home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = 0;
}

void CountedKeys::add(std::string_view key, const Entry& entry) {
  make_room();
  keys_.emplace_back(key);
  entries_.push_back(entry);
  const auto i = static_cast<std::uint32_t>(entries_.size() - 1);
  index(i);
  std::uint64_t at = heap_.size();
  heap_.push_back({entry.count, i});
  for (; at > 0 && heap_[(at - 1) / num_children].count > entry.count; at = (at - 1) / num_children) {
    heap_[at] = heap_[(at - 1) / num_children];
  }
  heap_[at] = {entry.count, i};
}

void CountedKeys::clear() noexcept {
  std::ranges::fill(slots_, 0);
  entries_.clear();
  keys_.clear();
  heap_.clear();
}

void CountedKeys::sift_down(std::uint64_t at) noexcept {
  const HeapNode node = heap_[at];
  while (true) {
    const std::uint64_t first = num_children * at + 1;
    const std::uint64_t end = std::min<std::uint64_t>(first + num_children, heap_.size());
    std::uint64_t least = first;
    for (std::uint64_t child = first + 1; child < end; ++child) {
      if (heap_[child].count < heap_[least].count) least = child;
    }
    if (first >= end || heap_[least].count >= node.count) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = node;
}

std::uint32_t CountedKeys::least() noexcept {
  while (heap_[0].count != entries_[heap_[0].entry].count) {
    heap_[0].count = entries_[heap_[0].entry].count;
    sift_down(0);
  }
  return heap_[0].entry;
}

void CountedKeys::replace_least(std::string_view key, const Entry& entry) {
  const std::uint32_t i = least();
  keys_[i].assign(key);  // first, since it may throw
  remove_from_index(i);
  entries_[i] = entry;
  index(i);
  heap_[0].count = entry.count;
  sift_down(0);
}

std::vector<KeyCount> CountedKeys::greatest(std::uint64_t num_keys) const {
  std::vector<KeyCount> all;
  all.reserve(size());
  for (std::uint32_t i = 0; i < size(); ++i) all.push_back(key_count(i));
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(num_keys, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const KeyCount& a, const KeyCount& b) {
    return std::tie(b.count, a.error, a.key) < std::tie(a.count, b.error, b.key);
  });
  all.erase(end, all.end());
  return all;
}

std::uint64_t CountedKeys::longest_search() const noexcept {
  std::uint64_t longest = 0;
  for (std::uint64_t at = 0; at < slots_.size(); ++at) {
    if (slots_[at] == 0) continue;
    longest = std::max(longest, 1 + ((at - home(slots_[at])) & (slots_.size() - 1)));
  }
  return longest;
}

std::uint64_t CountedKeys::num_bytes() const noexcept {
  std::uint64_t sum = slots_.capacity() * sizeof(std::uint64_t) + entries_.capacity() * sizeof(Entry) +
                      heap_.capacity() * sizeof(HeapNode) + keys_.capacity() * sizeof(std::string);
  for (const std::string& key : keys_) {
    if (key.capacity() >= sizeof(std::string)) sum += key.capacity() + 1;
  }
  return sum;
}

std::uint64_t CountedKeys::most_bytes_to_add(std::uint64_t num_keys) const noexcept {
  const std::uint64_t most_keys = num_keys < capacity_ - size() ? size() + num_keys : capacity_;
  const std::uint64_t room_now = std::min({keys_.capacity(), entries_.capacity(), heap_.capacity()});
  if (most_keys <= room_now && 2 * most_keys <= slots_.size()) return 0;
  const std::uint64_t room = std::min(capacity_, std::max(least_growth, 2 * most_keys));
  const std::uint64_t largest = room * (sizeof(std::string) + sizeof(Entry) + sizeof(HeapNode)) +
                                num_slots_for(room) * sizeof slots_[0];
  return 2 * largest;  // each list is at most half as long before it grows
}

}  // namespace tally

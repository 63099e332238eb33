#include "tally/filters/hash_set.hpp"

#include <algorithm>
#include <utility>

namespace tally {
namespace {

constexpr std::uint64_t num_shards = 64;
constexpr std::uint64_t least_bytes_sharded = std::uint64_t{1} << 20;
constexpr std::uint64_t first_homes = 64;
constexpr std::uint64_t slot_bytes = 16;

// Slots past the last home, for what the end of a full shard pushes there.
constexpr std::uint64_t slots_for(std::uint64_t num_homes) { return num_homes + 32 + num_homes / 64; }

}  // namespace

std::uint64_t HashSet::bytes_for(std::uint64_t num_homes) noexcept { return slots_for(num_homes) * slot_bytes; }

HashSet::Shard HashSet::make_shard(std::uint64_t num_homes) {
  Shard shard;
  shard.num_homes = num_homes;
  shard.num_slots = slots_for(num_homes);
  shard.max_size = num_homes * 92 / 100;
  shard.words = detail::AlignedWords(2 * shard.num_slots);
  return shard;
}

HashSet::HashSet(std::uint64_t max_bytes) {
  const std::uint64_t count = max_bytes < least_bytes_sharded ? 1 : num_shards;
  const std::uint64_t slots = max_bytes / count / slot_bytes;
  max_homes_ = slots <= slots_for(2) ? 2 : (slots - 32) / 65 * 64;
  max_homes_ = std::max<std::uint64_t>(max_homes_, 2);
  const std::uint64_t num_homes = std::min(first_homes, max_homes_);
  for (std::uint64_t i = 0; i < count; ++i) shards_.push_back(make_shard(num_homes));
  num_bytes_ = count * bytes_for(num_homes);
}

/// Pushes what stands from `slot` on one to the right; false, and nothing changed, if the last slot would be taken.
bool HashSet::Shard::place(std::uint64_t slot, Hash128 digest) noexcept {
  std::uint64_t* const slots = words.data();
  std::uint64_t end = slot;
  while (slots[2 * end] != 0) ++end;
  if (end + 1 == num_slots) return false;
  std::copy_backward(slots + 2 * slot, slots + 2 * end, slots + 2 * end + 2);
  slots[2 * slot] = digest.low;
  slots[2 * slot + 1] = digest.high;
  ++size;
  return true;
}

bool HashSet::try_grow(Hash128 digest) {
  Shard& shard = shard_of(stored(digest));
  const std::uint64_t num_homes = std::min(max_homes_, shard.num_homes + shard.num_homes / 12 + first_homes);
  if (num_homes == shard.num_homes) return false;
  Shard larger = make_shard(num_homes);
  const std::uint64_t* const from = shard.words.data();
  std::uint64_t* const to = larger.words.data();
  std::uint64_t next = 0;  // ascending digests go to ascending slots
  for (std::uint64_t slot = 0; slot < shard.num_slots; ++slot) {
    if (from[2 * slot] == 0) continue;
    next = std::max(next, reduce_to_range(from[2 * slot], num_homes));
    to[2 * next] = from[2 * slot];
    to[2 * next + 1] = from[2 * slot + 1];
    ++next;
  }
  larger.size = shard.size;
  num_bytes_ += bytes_for(num_homes) - bytes_for(shard.num_homes);
  shard = std::move(larger);
  return true;
}

}  // namespace tally

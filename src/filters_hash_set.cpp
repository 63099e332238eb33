#include "tally/filters/hash_set.hpp"

#include <algorithm>
#include <utility>

namespace tally {
namespace {

constexpr std::uint64_t num_shards = 16;
constexpr std::uint64_t least_bytes_sharded = std::uint64_t{1} << 20;
constexpr std::uint64_t first_homes = 16;
constexpr std::uint64_t line_bytes = 64;

// Lines past the last home are for what the end of a full shard pushes there.
constexpr std::uint64_t lines_for(std::uint64_t num_homes) { return num_homes + 8 + num_homes / 64; }

constexpr std::uint64_t most_homes_for(std::uint64_t num_lines) {
  return num_lines <= lines_for(2) ? 2 : num_lines - 8 - (num_lines - 7) / 65;
}

}  // namespace

std::uint64_t HashSet::bytes_for(std::uint64_t num_homes) noexcept {
  return lines_for(num_homes) * line_bytes;
}

HashSet::Shard HashSet::make_shard(std::uint64_t num_homes) {
  Shard shard;
  shard.num_homes = num_homes;
  shard.num_lines = lines_for(num_homes);
  shard.max_size = std::max<std::uint64_t>(1, num_homes * digests_a_line * 19 / 20);
  shard.words = detail::AlignedWords(2 * digests_a_line * shard.num_lines);
  return shard;
}

HashSet::HashSet(std::uint64_t max_bytes) {
  const std::uint64_t count = max_bytes < least_bytes_sharded ? 1 : num_shards;
  max_homes_ = most_homes_for(max_bytes / count / line_bytes);
  const std::uint64_t num_homes = std::min(first_homes, max_homes_);
  for (std::uint64_t i = 0; i < count; ++i) shards_.push_back(make_shard(num_homes));
  num_bytes_ = count * bytes_for(num_homes);
}

/// In the first line with room from its home on, marking the full ones before; false, and nothing
/// changed, if there is none nearer than half of the homes, which would leave the bit in doubt that
/// a mark takes.
bool HashSet::Shard::place(Hash128 digest) noexcept {
  const std::uint64_t first = home(digest);
  std::uint64_t last = first;
  while (last < num_lines && line(last)[digests_a_line - 1] != 0) ++last;
  if (last == num_lines || last - first >= num_homes / 2) return false;
  for (std::uint64_t i = first; i < last; ++i) line(i)[0] |= mark;
  std::uint64_t* const free = std::find(line(last), line(last) + digests_a_line, std::uint64_t{0});
  free[0] = digest.low & ~mark;
  free[digests_a_line] = digest.high;
  ++size;
  return true;
}

bool HashSet::try_grow(Hash128 digest) {
  Shard& shard = shard_of(stored(digest));
  for (std::uint64_t num_homes = shard.num_homes; num_homes != max_homes_;) {
    num_homes = std::min(max_homes_, num_homes + num_homes / 12 + first_homes);
    Shard larger = make_shard(num_homes);
    if (!move_all(shard, larger)) continue;
    num_bytes_ += bytes_for(num_homes) - bytes_for(shard.num_homes);
    shard = std::move(larger);
    return true;
  }
  return false;
}

/// Copies every digest; false if there is no place for one, which more lines have.
bool HashSet::move_all(const Shard& from, Shard& to) noexcept {
  for (std::uint64_t i = 0; i < from.num_lines; ++i) {
    const std::uint64_t* const low = from.line(i);
    for (std::uint64_t j = 0; j < digests_a_line && low[j] != 0; ++j) {
      Hash128 digest{low[j] & ~mark, low[j + digests_a_line]};
      const Hash128 in_upper_half{digest.low | mark, digest.high};
      if (i >= from.home(in_upper_half)) digest = in_upper_half;
      if (!to.place(digest)) return false;
    }
  }
  return true;
}

}  // namespace tally

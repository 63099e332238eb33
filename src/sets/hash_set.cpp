#include "tally/sets/hash_set.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "tally/detail/parameter_error.hpp"

// Compiled once for every instruction set that Highway supports on this kind of machine; the best is chosen
// at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sets/hash_set.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Bit i: whether lane i of the words, read as lanes of this type, equals `wanted`.
template <class Lane, std::size_t num_words>
HWY_INLINE unsigned equal_lanes(const std::uint64_t* words, Lane wanted) {
  constexpr std::size_t lanes_per_word = sizeof(std::uint64_t) / sizeof(Lane);
  const hn::CappedTag<Lane, num_words * lanes_per_word> tag;
  unsigned bits = 0;
  if constexpr (hn::MaxLanes(tag) < lanes_per_word) {  // vectors of one lane, which cannot form a word
    constexpr std::size_t lane_bits = 8 * sizeof(Lane);
    for (std::size_t i = 0; i < num_words * lanes_per_word; ++i) {
      const auto lane = static_cast<Lane>(words[i / lanes_per_word] >> (i % lanes_per_word * lane_bits));
      bits |= unsigned{lane == wanted} << i;
    }
  } else {
    const hn::Repartition<std::uint64_t, decltype(tag)> word_tag;
    const auto all_wanted = hn::Set(tag, wanted);
    for (std::size_t i = 0; i < num_words; i += hn::Lanes(word_tag)) {
      std::array<std::uint8_t, 8> found{};
      hn::StoreMaskBits(tag, hn::Eq(hn::BitCast(tag, hn::Load(word_tag, words + i)), all_wanted),
                        found.data());
      bits |= unsigned{found[0]} << (i * lanes_per_word);
    }
  }
  return bits;
}

/// DigestShard::stands_in, where `low` begins at lane 0 of 64 bits of the line, and `high` at lane 10 of 32.
HWY_INLINE bool stands_in(const std::uint64_t* line, Hash128 digest) {
  const unsigned low = equal_lanes<std::uint64_t, 8>(line, digest.low);
  const unsigned high = equal_lanes<std::uint32_t, 4>(line + 4, static_cast<std::uint32_t>(digest.high));
  return (low & (high >> 2) & ((1u << DigestShard::num_in(line)) - 1)) != 0;
}

/// First every digest's first line, then the second lines of those that may be there. Without a branch, which
/// would often be mispredicted. Returns how many indices were written.
HWY_ATTR std::size_t find_absent_here(std::span<const DigestShard> shards, std::span<const Hash128> digests,
                                      std::span<std::uint32_t> indices) {
  constexpr std::size_t window = 512;
  constexpr std::size_t num_ahead = 32;
  std::array<const std::uint64_t*, window> lines;
  std::array<std::uint32_t, window> missing;
  const auto shard_of = [&](Hash128 digest) -> const DigestShard& {
    return shards[reduce_to_range(digest.high, shards.size())];
  };
  std::size_t num_absent = 0;
  for (std::size_t first = 0; first < digests.size(); first += window) {
    const std::size_t count = std::min(window, digests.size() - first);
    const auto prepare = [&](std::size_t i) {
      const Hash128 digest = digests[first + i];
      lines[i] = shard_of(digest).first_line(digest);
      detail::prefetch_for_read(lines[i]);
    };
    for (std::size_t i = 0; i < std::min(num_ahead, count); ++i) prepare(i);
    std::size_t num_missing = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i + num_ahead < count) prepare(i + num_ahead);
      missing[num_missing] = static_cast<std::uint32_t>(first + i);
      lines[num_missing] = lines[i];
      num_missing += !stands_in(lines[i], digests[first + i]);
    }
    for (std::size_t j = 0; j < num_missing; ++j) {
      const Hash128 digest = digests[missing[j]];
      const std::ptrdiff_t to_second = shard_of(digest).second_line(digest) - lines[j];
      lines[j] += to_second * std::ptrdiff_t{DigestShard::is_passed_over(lines[j])};
      detail::prefetch_for_read(lines[j]);
    }
    for (std::size_t j = 0; j < num_missing; ++j) {
      indices[num_absent] = missing[j];
      num_absent += !stands_in(lines[j], digests[missing[j]]);
    }
  }
  return num_absent;
}

}  // namespace HWY_NAMESPACE
}  // namespace tally
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally {
namespace {

constexpr std::uint64_t num_shards = 64;
constexpr std::uint64_t least_bytes_sharded = std::uint64_t{1} << 20;
constexpr std::uint64_t least_lines = 2;
constexpr std::uint64_t first_lines = 64;
constexpr std::uint64_t growth_divisor = 3;  // a shard grows by a third
constexpr std::uint64_t line_bytes = 64;

}  // namespace

HWY_EXPORT(find_absent_here);

std::size_t HashSet::find_absent(std::span<const Hash128> digests,
                                 std::span<std::uint32_t> indices) const noexcept {
  return HWY_DYNAMIC_DISPATCH(find_absent_here)(shards_, digests, indices);
}

HashSet::HashSet(std::uint64_t max_bytes) {
  if (max_bytes < least_bytes_sharded) {
    max_lines_ = std::max(least_lines, max_bytes / line_bytes);
    shards_.emplace_back(max_lines_);
    return;
  }
  // One more than there are: the copy of a shard that grows.
  max_lines_ = max_bytes / line_bytes / (num_shards + 1);
  shards_.reserve(num_shards);
  // Of many sizes, so that at any time some have grown recently and others will soon.
  for (std::uint64_t i = 0; i < num_shards; ++i) {
    shards_.emplace_back(first_lines + first_lines * i / num_shards / growth_divisor);
  }
}

namespace {

void require_image(bool holds) {
  if (holds) return;
  detail::throw_parameter_error("HashSet", "image", "invalid",
                                "the image that a set with the same max_bytes returned");
}

}  // namespace

HashSet::HashSet(std::uint64_t max_bytes, std::span<const std::uint64_t> image) : HashSet(max_bytes) {
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    require_image(!image.empty() && image[0] < image.size());
    detail::AlignedWords words(image[0]);
    std::ranges::copy(image.subspan(1, image[0]), words.data());
    image = image.subspan(1 + words.size());
    take_shard(i, std::move(words));
  }
  require_image(image.empty());
}

HashSet::HashSet(std::uint64_t max_bytes, std::vector<detail::AlignedWords> words_of_shards)
    : HashSet(max_bytes) {
  require_image(words_of_shards.size() == shards_.size());
  for (std::size_t i = 0; i < shards_.size(); ++i) take_shard(i, std::move(words_of_shards[i]));
}

void HashSet::take_shard(std::size_t i, detail::AlignedWords words) {
  require_image(words.size() % DigestShard::words_per_line == 0 && words.size() != 0 &&
                words.size() / DigestShard::words_per_line <= std::max(max_lines_, shards_[i].num_lines()));
  shards_[i] = DigestShard(std::move(words));
}

std::vector<std::uint64_t> HashSet::image() const {
  std::vector<std::uint64_t> image;
  image.reserve(num_bytes() / sizeof(std::uint64_t) + shards_.size());
  for (const DigestShard& shard : shards_) {
    image.push_back(shard.words().size());
    image.insert(image.end(), shard.words().begin(), shard.words().end());
  }
  return image;
}

bool HashSet::try_grow(Hash128 digest) {
  DigestShard& shard = shards_[index_of_shard(digest)];
  for (std::uint64_t num_lines = shard.num_lines(); num_lines < max_lines_;) {
    num_lines = std::min(max_lines_, num_lines + std::max<std::uint64_t>(1, num_lines / growth_divisor));
    DigestShard larger(num_lines);
    if (!larger.insert_all(shard)) continue;
    shard = std::move(larger);
    return true;
  }
  return false;
}

std::uint64_t HashSet::capacity(std::uint64_t max_bytes) noexcept {
  if (max_bytes < least_bytes_sharded) return max_size(std::max(least_lines, max_bytes / line_bytes));
  return num_shards * max_size(max_bytes / line_bytes / (num_shards + 1));
}

namespace {

std::uint64_t bytes_of_largest(std::span<const DigestShard> shards) noexcept {
  std::uint64_t num_lines = 0;
  for (const DigestShard& shard : shards) num_lines = std::max(num_lines, shard.num_lines());
  return num_lines * line_bytes;
}

}  // namespace

std::uint64_t HashSet::most_growth_bytes(std::uint64_t num_digests) const noexcept {
  if (shards_.size() == 1) return 0;
  // A shard grows by a third of itself, or to what the digests take with a third more.
  const std::uint64_t third = bytes_of_largest(shards_) / growth_divisor + line_bytes;
  constexpr std::uint64_t most_bytes_per_digest = 24;
  return std::min(num_digests, num_shards) * third + most_bytes_per_digest * num_digests;
}

std::uint64_t HashSet::most_bytes_to_insert(std::uint64_t num_digests) const noexcept {
  if (shards_.size() == 1) return 0;
  return most_growth_bytes(num_digests) + 2 * bytes_of_largest(shards_);
}

std::uint64_t HashSet::num_bytes() const noexcept {
  std::uint64_t num_lines = 0;
  for (const DigestShard& shard : shards_) num_lines += shard.num_lines();
  return num_lines * line_bytes;
}

}  // namespace tally
#endif  // HWY_ONCE

#include "tally/sets/digest_shard.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tally/detail/parameter_error.hpp"

namespace tally {

namespace {

detail::AlignedWords copy_of(std::span<const std::uint64_t> words) {
  detail::AlignedWords copy(words.size());
  std::ranges::copy(words, copy.data());
  return copy;
}

}  // namespace

DigestShard::DigestShard(std::span<const std::uint64_t> words) : DigestShard(copy_of(words)) {}

DigestShard::DigestShard(detail::AlignedWords words)
    : words_(std::move(words)), num_lines_(words_.size() / words_per_line) {
  bool fits = num_lines_ > 0 && words_.size() % words_per_line == 0;
  for (std::uint64_t i = 0; fits && i < num_lines_; ++i) {
    const std::uint64_t* const from = line(i);
    const std::uint64_t count = num_in(from);
    fits = count <= digests_per_line && from[state_word] < 2 * passed_over;
    for (std::uint64_t index = 0; fits && index < digests_per_line; ++index) {
      const Hash128 digest = digest_at(from, index);
      const std::uint64_t* const first = first_line(digest);
      const bool is_own = first == from || (second_line(digest) == from && is_passed_over(first));
      fits = index < count ? is_own : digest == Hash128{};
    }
    size_ += count;
  }
  if (!fits) {
    detail::throw_parameter_error("DigestShard", "list of words", "invalid",
                                  "the list that such a table returned");
  }
}

void DigestShard::put(const std::uint64_t* line, std::uint64_t index, Hash128 digest) noexcept {
  std::uint64_t* const words = writable(line);
  words[index] = digest.low;
  std::uint64_t& halves = words[half_words + index / 2];
  const std::uint64_t shift = 32 * (index % 2);
  halves &= ~(std::uint64_t{0xffffffff} << shift);
  halves |= std::uint64_t{half(digest)} << shift;
  if (const std::uint64_t* const first = first_line(digest); first != line) {
    writable(first)[state_word] |= passed_over;
  }
}

/// Appends to a line that has room.
void DigestShard::append(const std::uint64_t* line, Hash128 digest) noexcept {
  put(line, num_in(line), digest);
  writable(line)[state_word] += one_digest;
  ++size_;
}

void DigestShard::clear() noexcept {
  if (size_ > 0) words_.clear();
  size_ = 0;
}

bool DigestShard::insert(Hash128 digest) noexcept {
  for (const std::uint64_t* const line : {first_line(digest), second_line(digest)}) {
    if (num_in(line) == digests_per_line) continue;
    append(line, digest);
    return true;
  }
  return insert_by_moves(digest);
}

/// Both lines are full. The search visits the lines that a chain of moves can reach, nearest first; from a
/// line with room the chain is carried out backwards. No line occurs twice on it, because there would be a
/// shorter chain, so each step moves the digest that the search found there.
bool DigestShard::insert_by_moves(Hash128 digest) noexcept {
  struct Visit {
    const std::uint64_t* line;
    std::uint16_t from;   // the visit whose digest would move here
    std::uint16_t index;  // that digest's index there
  };
  constexpr std::uint16_t num_roots = 2;
  constexpr std::uint16_t max_visits = 512;
  std::array<Visit, max_visits> visits;
  visits[0] = {first_line(digest), 0, 0};
  visits[1] = {second_line(digest), 1, 0};
  std::uint16_t num_visits = num_roots;

  const auto carry_out = [&](std::uint16_t v) {
    append(visits[v].line, digest_at(visits[visits[v].from].line, visits[v].index));
    std::uint64_t index = visits[v].index;
    for (v = visits[v].from; v >= num_roots; v = visits[v].from) {
      put(visits[v].line, index, digest_at(visits[visits[v].from].line, visits[v].index));
      index = visits[v].index;
    }
    put(visits[v].line, index, digest);
  };

  for (std::uint16_t v = 0; v < num_visits; ++v) {
    for (std::uint16_t index = 0; index < digests_per_line && num_visits < max_visits; ++index) {
      const std::uint64_t* const line = other_line(visits[v].line, digest_at(visits[v].line, index));
      visits[num_visits] = {line, v, index};
      if (num_in(line) < digests_per_line) {
        carry_out(num_visits);
        return true;
      }
      ++num_visits;
    }
  }
  return false;
}

bool DigestShard::insert_all(const DigestShard& other) {
  std::vector<Hash128> left;
  left.reserve(other.size_ / 4);
  for (std::uint64_t i = 0; i < other.num_lines_; ++i) {
    const std::uint64_t* const from = other.line(i);
    const std::uint64_t count = num_in(from);
    for (std::uint64_t index = 0; index < count; ++index) {
      const Hash128 digest = digest_at(from, index);
      const std::uint64_t* const to = first_line(digest);
      if (num_in(to) == digests_per_line || other.first_line(digest) != from) {
        left.push_back(digest);
      } else {
        append(to, digest);
      }
    }
  }
  constexpr std::size_t num_ahead = 8;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (i + num_ahead < left.size()) {
      detail::prefetch_for_read(first_line(left[i + num_ahead]));
      detail::prefetch_for_read(second_line(left[i + num_ahead]));
    }
    if (!insert(left[i])) return false;
  }
  return true;
}

}  // namespace tally

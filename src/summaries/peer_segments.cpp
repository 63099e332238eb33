#include "tally/summaries/peer_segments.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "tally/detail/checked_math.hpp"

namespace tally {

namespace {

// Of one column: a page. With fewer, a lookup in many small tables would read another line for the segment.
constexpr std::uint64_t least_segment_bits = 32768;
constexpr std::uint64_t most_segments = 4096;

std::uint64_t row_bits_of(std::uint64_t num_rows, std::uint64_t column_bits) {
  const std::uint64_t least = detail::ceil_div(least_segment_bits, column_bits);
  return static_cast<std::uint64_t>(
      std::bit_width(std::bit_ceil(std::max(least, detail::ceil_div(num_rows, most_segments)))) - 1);
}

// Both loops leave zeros out: memory that the kernel gave and nobody wrote takes no pages.

void copy_bits(const std::uint64_t* from, std::uint64_t from_columns, std::uint64_t* to,
               std::uint64_t to_columns, std::uint64_t num_rows) {
  const std::uint64_t num_words = detail::ceil_div(num_rows * from_columns, 64);
  if (from_columns >= 64) {
    const std::uint64_t row_words = from_columns / 64;
    for (std::uint64_t first = 0; first < num_words; first += row_words, to += to_columns / 64) {
      for (std::uint64_t i = 0; i < row_words; ++i) {
        if (from[first + i] != 0) to[i] = from[first + i];
      }
    }
    return;
  }
  const std::uint64_t mask = (std::uint64_t{1} << from_columns) - 1;
  for (std::uint64_t i = 0; i < num_words; ++i) {
    std::uint64_t bit = i * (64 / from_columns) * to_columns;
    for (std::uint64_t rows = from[i]; rows != 0; rows >>= from_columns, bit += to_columns) {
      to[bit / 64] |= (rows & mask) << bit % 64;
    }
  }
}

bool has_nonzero(const unsigned char* bytes, std::uint64_t count) {
  return bytes[0] != 0 || std::memcmp(bytes, bytes + 1, count - 1) != 0;
}

void copy_bytes(const unsigned char* from, std::uint64_t from_bytes, unsigned char* to,
                std::uint64_t to_bytes, std::uint64_t num_rows) {
  for (; num_rows != 0; --num_rows, from += from_bytes, to += to_bytes) {
    if (has_nonzero(from, from_bytes)) std::memcpy(to, from, from_bytes);
  }
}

void clear_bits(std::uint64_t* words, std::uint64_t num_columns, std::uint64_t column,
                std::uint64_t num_rows) {
  // All rows of a word at once.
  std::uint64_t mask = std::uint64_t{1} << column % 64;
  for (std::uint64_t shift = num_columns; shift < 64; shift *= 2) mask |= mask << shift;
  const std::uint64_t num_words = detail::ceil_div(num_rows * num_columns, 64);
  const std::uint64_t step = std::max<std::uint64_t>(1, num_columns / 64);
  for (std::uint64_t i = column / 64; i < num_words; i += step) {
    if ((words[i] & mask) != 0) words[i] &= ~mask;
  }
}

}  // namespace

PeerSegments::Segment::Segment(detail::AlignedWords&& words, std::uint64_t num_columns) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t num_lines = detail::ceil_div(words.size(), 8);
  if (num_lines > most || num_columns > most) throw std::bad_alloc();
  const detail::AlignedWords::Block block = words.release();
  words_ = static_cast<std::uint64_t*>(block.memory);
  release_ = block.release;
  num_columns_ = static_cast<std::uint32_t>(num_columns);
  num_lines_ = static_cast<std::uint32_t>(num_lines);
}

PeerSegments::PeerSegments(std::uint64_t num_rows, std::uint64_t column_bits)
    : row_bits_(row_bits_of(num_rows, column_bits)),
      row_mask_((std::uint64_t{1} << row_bits_) - 1),
      segments_(((num_rows - 1) >> row_bits_) + 1),
      num_rows_(num_rows),
      column_bits_(column_bits),
      marks_per_column_(detail::ceil_div(segments_.size(), 64)),
      num_held_bytes_(segments_.size() * sizeof(Segment)),
      num_bytes_(num_held_bytes_) {}

std::uint64_t PeerSegments::num_bytes_of(std::uint64_t index, std::uint64_t num_columns) const {
  const std::uint64_t num_bits =
      detail::checked_mul(num_rows_of(index) * column_bits_, num_columns, "bits of a segment");
  return 64 * detail::ceil_div(num_bits, 512);
}

// An eighth more each time, so that a thousand peers are not copied a thousand times.
std::uint64_t PeerSegments::capacity_for(Column column) const noexcept {
  std::uint64_t capacity = 1;
  while (capacity <= column) {
    if (column_bits_ == 1)
      capacity += capacity < 64 ? capacity : 64 * std::max<std::uint64_t>(1, capacity / 512);
    else capacity += std::max<std::uint64_t>(1, capacity / 8);
  }
  return capacity;
}

bool PeerSegments::has_memory_everywhere(Column column) const noexcept {
  return std::all_of(segments_.begin(), segments_.end(),
                     [&](const Segment& segment) { return segment.num_columns() > column; });
}

void PeerSegments::widen(std::uint64_t index, std::uint64_t num_columns) {
  Segment& segment = segments_[index];
  Segment wider(detail::AlignedWords(num_bytes_of(index, num_columns) / 8), num_columns);
  if (column_bits_ == 1 && segment.words() != nullptr) {
    copy_bits(segment.words(), segment.num_columns(), wider.words(), num_columns, num_rows_of(index));
  } else if (segment.words() != nullptr) {
    copy_bytes(reinterpret_cast<const unsigned char*>(segment.words()),
               segment.num_columns() * column_bits_ / 8, reinterpret_cast<unsigned char*>(wider.words()),
               num_columns * column_bits_ / 8, num_rows_of(index));
  }
  num_held_bytes_ += wider.num_bytes() - segment.num_bytes();
  segment = std::move(wider);
}

void PeerSegments::clear(Column column) noexcept {
  for (std::uint64_t i = 0; i < marks_per_column_; ++i) {
    std::uint64_t& marks = marks_[column * marks_per_column_ + i];
    for (; marks != 0; marks &= marks - 1) {
      clear(64 * i + static_cast<std::uint64_t>(std::countr_zero(marks)), column);
    }
  }
}

void PeerSegments::clear(std::uint64_t index, Column column) noexcept {
  const Segment& segment = segments_[index];
  if (column_bits_ == 1) {
    return clear_bits(segment.words(), segment.num_columns(), column, num_rows_of(index));
  }
  const std::uint64_t column_bytes = column_bits_ / 8;
  auto* at = reinterpret_cast<unsigned char*>(segment.words()) + column * column_bytes;
  for (std::uint64_t i = 0; i < num_rows_of(index); ++i, at += segment.num_columns() * column_bytes) {
    if (has_nonzero(at, column_bytes)) std::memset(at, 0, column_bytes);
  }
}

}  // namespace tally

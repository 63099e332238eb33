#include <algorithm>
#include <string>
#include <utility>

#include "serialization/parts.hpp"
#include "tally/detail/little_endian.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace detail {
namespace {

constexpr std::uint64_t low_bits(std::uint64_t num_bits) {
  return num_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << num_bits) - 1;
}

/// The bits of a body's words that belong to positions.
class UsedBits {
 public:
  UsedBits(const FilterShape& shape, std::uint64_t num_words)
      : num_words_(num_words),
        per_word_(64 / shape.counter_bits()),
        most_(low_bits(per_word_ * shape.counter_bits())) {
    last_ = low_bits((shape.num_positions() - (num_words - 1) * per_word_) * shape.counter_bits());
  }

  /// How many of the first `end` words have no other bit set, from `first` on without a gap; those before `first` are known.
  std::uint64_t num_clean(FileBytes words, std::uint64_t first, std::uint64_t end) const noexcept {
    if (most_ == low_bits(64)) first = std::max(first, std::min(end, num_words_ - 1));
    while (first < end && is_clean(words, first)) ++first;
    return first;
  }

 private:
  bool is_clean(FileBytes words, std::uint64_t i) const noexcept {
    const std::uint64_t used = i + 1 == num_words_ ? last_ : most_;
    return (load_little_endian<std::uint64_t>(words.data() + 8 * i) & ~used) == 0;
  }

  std::uint64_t num_words_;
  std::uint64_t per_word_;
  std::uint64_t most_;  // of all words but the last one
  std::uint64_t last_;
};

void check_words(const FilterShape& shape, FileBytes main, std::uint64_t num_bytes,
                 CheckedUnits& checked) noexcept {
  checked.num_good = UsedBits(shape, main.size() / 8).num_clean(main, checked.num_good, num_bytes / 8);
}

}  // namespace

void check_unused_bits(const FilterShape& shape, FileBytes words, std::uint64_t offset,
                       std::uint64_t num_clean) {
  const std::uint64_t num_words = words.size() / 8;
  num_clean = UsedBits(shape, num_words).num_clean(words, num_clean, num_words);
  if (num_clean == num_words) return;
  const std::uint64_t at = offset + 8 * num_clean;
  throw FormatError("an unused bit of the body's word " + std::to_string((at - file_header_bytes) / 8) +
                        " is set; must be clear",
                    at);
}

void check_length(std::uint64_t body_bytes, std::uint64_t file_bytes) {
  const std::uint64_t expected = file_header_bytes + body_bytes;
  if (file_bytes == expected) return;
  throw FormatError("length is " + std::to_string(file_bytes) + " bytes; must be " +
                        std::to_string(expected) + ": " +
                        (file_bytes < expected ? "the end is missing" : "there are bytes after the end"),
                    std::min(file_bytes, expected));
}

void check_body_checksum(std::uint64_t found, std::uint64_t body_checksum) {
  if (found == body_checksum) return;
  throw FormatError("the checksum of the body does not match; the file is damaged", file_header_bytes);
}

void BodyCheck::add(const FileHeader& header, FileBytes piece, const BodyBytes& body,
                    std::uint64_t end) noexcept {
  checksum_.add(piece);
  if (const auto* dleft = std::get_if<DLeftShape>(&header.shape.shape)) {
    check_dleft_part(header, *dleft, body, end, units_, side_table_);
  } else if (const auto* compact = std::get_if<CompactDLeftShape>(&header.shape.shape)) {
    check_compact_part(header, *compact, body, end, units_, side_table_);
  } else {
    check_words(header.shape, body.main, end, units_);
  }
}

void BodyCheck::finish(const FileHeader& header, const BodyBytes& body) const {
  check_body_checksum(checksum_.value(), header.body_checksum);
  if (const auto* dleft = std::get_if<DLeftShape>(&header.shape.shape)) {
    check_dleft_rest(header, *dleft, body, units_, side_table_);
  } else if (const auto* compact = std::get_if<CompactDLeftShape>(&header.shape.shape)) {
    check_compact_rest(header, *compact, body, units_, side_table_);
  } else {
    check_unused_bits(header.shape, body.main, file_header_bytes, units_.num_good);
  }
}

void check_body(const FileHeader& header, const BodyBytes& body) {
  constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 18;  // stays in a cache between its checks
  BodyCheck check;
  std::uint64_t end = 0;
  for (const FileBytes part : {body.main, body.side}) {
    for (FileBytes rest = part; !rest.empty();) {
      const FileBytes piece = rest.first(std::min<std::uint64_t>(piece_bytes, rest.size()));
      rest = rest.subspan(piece.size());
      end += piece.size();
      check.add(header, piece, body, end);
    }
  }
  check.finish(header, body);
}

}  // namespace detail

std::vector<std::byte> detail::joined(std::span<const FileBytes> pieces) {
  std::size_t num_bytes = 0;
  for (const FileBytes piece : pieces) num_bytes += piece.size();
  std::vector<std::byte> bytes(num_bytes);
  auto end = bytes.begin();
  for (const FileBytes piece : pieces) end = std::ranges::copy(piece, end).out;
  return bytes;
}

std::vector<std::byte> serialize(const FilterView& filter) {
  const auto header = detail::header_of(filter);
  const detail::FileBytes pieces[] = {header, std::as_bytes(filter.words), std::as_bytes(filter.side_words)};
  return detail::joined(pieces);
}

AnyFilter deserialize(std::span<const std::byte> bytes, const std::optional<HashKey>& key) {
  const FileHeader header = read_header(bytes);
  detail::check_length(header.body_bytes(), bytes.size());
  const detail::BodyBytes body = detail::divided(header.shape, bytes.subspan(file_header_bytes));
  detail::check_body(header, body);
  const KeyHasher hasher = header.hasher(key);
  const auto copied = [](detail::FileBytes part) {
    detail::AlignedWords words(part.size() / 8);
    std::ranges::copy(part, std::as_writable_bytes(words.words()).begin());
    return words;
  };
  detail::AlignedWords words = copied(body.main);
  return {header.shape, hasher, header.totals, std::move(words), copied(body.side)};
}

}  // namespace tally

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

}  // namespace

void check_unused_bits(const FilterShape& shape, FileBytes words, std::uint64_t offset) {
  const std::uint64_t per_word = 64 / shape.counter_bits();
  const std::uint64_t num_words = words.size() / 8;
  const std::uint64_t in_last = shape.num_positions() - (num_words - 1) * per_word;
  const std::uint64_t used = low_bits(per_word * shape.counter_bits());
  const std::uint64_t used_in_last = low_bits(in_last * shape.counter_bits());
  const auto check_word = [&](std::uint64_t i, std::uint64_t used_bits) {
    if ((load_little_endian<std::uint64_t>(words.data() + 8 * i) & ~used_bits) == 0) return;
    const std::uint64_t at = offset + 8 * i;
    throw FormatError("an unused bit of the body's word " + std::to_string((at - file_header_bytes) / 8) +
                          " is set; must be clear",
                      at);
  };
  if (used != low_bits(64)) {
    for (std::uint64_t i = 0; i + 1 < num_words; ++i) check_word(i, used);
  }
  check_word(num_words - 1, used_in_last);
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

void check_body(const FileHeader& header, const BodyBytes& body) {
  check_body_checksum(body_checksum(body), header.body_checksum);
  if (const auto* dleft = std::get_if<DLeftShape>(&header.shape.shape)) {
    check_dleft_body(header, *dleft, body);
  } else if (const auto* compact = std::get_if<CompactDLeftShape>(&header.shape.shape)) {
    check_compact_body(header, *compact, body);
  } else {
    check_unused_bits(header.shape, body.main, file_header_bytes);
  }
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

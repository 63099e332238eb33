#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "serialization/fields.hpp"
#include "tally/serialization/file_pieces.hpp"
#include "tally/serialization/filter_loader.hpp"

namespace tally {
namespace {

using detail::FileBytes;

/// From `offset` of both parts on, to the end of one of them.
FileBytes rest_of_part(const detail::BodyBytes& body, std::uint64_t offset) noexcept {
  if (offset < body.main.size()) return body.main.subspan(offset);
  return body.side.subspan(std::min<std::uint64_t>(offset - body.main.size(), body.side.size()));
}

FileBytes at_most(std::uint64_t max_bytes, FileBytes bytes) noexcept {
  return bytes.first(std::min<std::uint64_t>(max_bytes, bytes.size()));
}

}  // namespace

std::array<std::byte, file_header_bytes> file_header(const FilterView& filter) {
  return detail::header_of(filter);
}

std::array<std::byte, file_header_bytes> file_header_without_body(const FilterView& filter) {
  return detail::header_of(filter, 0);
}

std::array<std::byte, file_header_bytes> file_header(const FilterView& filter, const BodyChecksum& checksum) {
  if (checksum.num_bytes() == filter.shape.num_bytes()) return detail::header_of(filter, checksum.value());
  throw std::invalid_argument("file_header: the checksum is of " + std::to_string(checksum.num_bytes()) +
                              " bytes; must be of " + std::to_string(filter.shape.num_bytes()) +
                              ", the whole body; add all pieces of it");
}

std::span<const std::byte> body_piece(const FilterView& filter, std::uint64_t offset,
                                      std::uint64_t max_bytes) noexcept {
  return at_most(max_bytes,
                 rest_of_part({std::as_bytes(filter.words), std::as_bytes(filter.side_words)}, offset));
}

FilterLoader::FilterLoader(std::uint64_t max_body_bytes, const std::optional<HashKey>& key)
    : max_body_bytes_(max_body_bytes), key_(key) {}

std::span<std::byte> FilterLoader::free_bytes() noexcept {
  if (!header_) return std::span(header_bytes_).subspan(num_bytes_);
  std::uint64_t offset = num_bytes_ - file_header_bytes;
  const auto main = std::as_writable_bytes(words_.words());
  if (offset < main.size()) return main.subspan(offset);
  return std::as_writable_bytes(side_words_.words()).subspan(offset - main.size());
}

void FilterLoader::begin_body() {
  const FileHeader header = read_header(header_bytes_);
  if (header.body_bytes() > max_body_bytes_) {
    throw FormatError("body length is " + std::to_string(header.body_bytes()) + "; must be at most " +
                          std::to_string(max_body_bytes_) + ", the limit of this load",
                      detail::body_bytes_at);
  }
  (void)header.hasher(key_);
  const std::uint64_t side_bytes = header.shape.side_bytes();
  words_ = detail::AlignedWords((header.body_bytes() - side_bytes) / 8);
  side_words_ = detail::AlignedWords(side_bytes / 8);
  header_ = header;
  check_ = {};
}

detail::BodyBytes FilterLoader::body() const noexcept {
  return {std::as_bytes(words_.words()), std::as_bytes(side_words_.words())};
}

void FilterLoader::forget_after(std::uint64_t num_bytes) noexcept {
  num_bytes_ = num_bytes;
  if (num_bytes >= file_header_bytes) return;
  header_.reset();
  words_ = {};
  side_words_ = {};
}

void FilterLoader::add(std::span<const std::byte> bytes) {
  const std::uint64_t num_before = num_bytes_;
  const detail::BodyCheck check_before = check_;
  try {
    const std::uint64_t num_after = num_before + bytes.size();
    while (!bytes.empty() && !(header_ && num_bytes_ == file_header_bytes + header_->body_bytes())) {
      const std::span<std::byte> free = free_bytes();
      const FileBytes part = at_most(free.size(), bytes);
      std::ranges::copy(part, free.begin());
      num_bytes_ += part.size();
      bytes = bytes.subspan(part.size());
      if (header_) check_.add(*header_, part, body(), num_bytes_ - file_header_bytes);
      if (num_bytes_ == file_header_bytes) begin_body();
    }
    if (!header_ || num_after < file_header_bytes + header_->body_bytes()) return;
    detail::check_length(header_->body_bytes(), num_after);
    if (filter_) return;
    check_.finish(*header_, body());
    filter_.emplace(header_->shape, header_->hasher(key_), header_->totals, std::move(words_),
                    std::move(side_words_));
  } catch (...) {
    // Words that went into a filter which could not be made are lost.
    const bool has_words = !header_ || words_.size() != 0;
    if (!filter_) forget_after(has_words ? num_before : 0);
    check_ = check_before;
    throw;
  }
}

std::span<const std::byte> FilterLoader::body_piece(std::uint64_t offset,
                                                    std::uint64_t max_bytes) const noexcept {
  if (filter_) return tally::body_piece(*filter_, offset, max_bytes);
  const std::uint64_t num_added = header_ ? num_bytes_ - file_header_bytes : 0;
  if (offset >= num_added) return {};
  return at_most(std::min(max_bytes, num_added - offset), rest_of_part(body(), offset));
}

AnyFilter FilterLoader::take() && {
  if (!header_) (void)read_header(FileBytes(header_bytes_).first(num_bytes_));  // throws: it is too short
  if (!filter_) detail::check_length(header_->body_bytes(), num_bytes_);
  return std::move(*filter_);
}

}  // namespace tally

#include "partial_load.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "refusal.hpp"

namespace tally::redis {
namespace {

static_assert(std::endian::native == std::endian::little, "the words of a file are little-endian");

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

std::string_view piece_of(std::span<const std::uint64_t> words, std::uint64_t offset) {
  const auto bytes = std::as_bytes(words);
  const std::uint64_t length = std::min(max_piece_bytes, bytes.size() - offset);
  return {reinterpret_cast<const char*>(bytes.data()) + offset, length};
}

PartialLoad::PartialLoad(std::string_view headers) : header_bytes_(headers) {
  if (headers.empty() || headers.size() % file_header_bytes != 0) {
    throw FormatError("the length of the headers is " + std::to_string(headers.size()) +
                          "; must be a multiple of " + std::to_string(file_header_bytes),
                      0);
  }
  for (std::size_t at = 0; at < headers.size(); at += file_header_bytes) {
    headers_.push_back(read_header(as_bytes(headers.substr(at, file_header_bytes))));
    if (headers_.back().hash_id != HashId::xxh3_128) throw FormatError("the file has a secret key", at);
    if (__builtin_add_overflow(total_bytes_, headers_.back().body_bytes(), &total_bytes_)) {
      throw FormatError("the files have more than 2^64 bytes", at);
    }
  }
  filters_.reserve(headers_.size());
  begin_next();
}

void PartialLoad::begin_next() {
  next_file_ = {};
  if (is_complete()) return;
  const auto header = as_bytes(header_bytes_).subspan(filters_.size() * file_header_bytes, file_header_bytes);
  next_file_.assign(header.begin(), header.end());
}

void PartialLoad::append(std::uint64_t end, std::string_view bytes) {
  if (is_complete() || end < bytes.size() || end - bytes.size() != loaded_bytes_) {
    throw Refusal("ERR invalid offset - no link found");
  }
  const std::size_t old_size = next_file_.size();
  const std::uint64_t file_bytes = file_header_bytes + headers_[filters_.size()].body_bytes();
  if (bytes.size() > file_bytes - old_size) {
    throw Refusal("ERR invalid chunk - Too big for current filter");
  }
  if (bytes.empty()) throw Refusal("ERR received bad data");
  const auto added = as_bytes(bytes);
  next_file_.insert(next_file_.end(), added.begin(), added.end());
  if (next_file_.size() == file_bytes) {
    try {
      filters_.push_back(deserialize(next_file_));
    } catch (const FormatError&) {
      next_file_.resize(old_size);
      throw Refusal("ERR received bad data");
    } catch (...) {
      next_file_.resize(old_size);
      throw;
    }
    begin_next();
  }
  loaded_bytes_ += bytes.size();
}

std::string_view PartialLoad::piece(std::uint64_t offset) const {
  for (const AnyFilter& filter : filters_) {
    for (const std::span<const std::uint64_t> words : {filter.words(), filter.side_words()}) {
      if (offset < words.size_bytes()) return piece_of(words, offset);
      offset -= words.size_bytes();
    }
  }
  const std::uint64_t start = file_header_bytes + offset;
  const std::uint64_t length = std::min(max_piece_bytes, next_file_.size() - start);
  return {reinterpret_cast<const char*>(next_file_.data()) + start, length};
}

std::uint64_t PartialLoad::memory_bytes() const noexcept {
  std::uint64_t bytes = sizeof *this + header_bytes_.size() + next_file_.capacity();
  for (const AnyFilter& filter : filters_) {
    bytes += sizeof filter + filter.words().size_bytes() + filter.side_words().size_bytes();
  }
  return bytes;
}

}  // namespace tally::redis

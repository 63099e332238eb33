#include "partial_load.hpp"

#include <new>

#include "refusal.hpp"
#include "tally/serialization/file_pieces.hpp"

namespace tally::redis {

PartialLoad::PartialLoad(std::string_view headers) : header_bytes_(headers) {
  if (headers.empty() || headers.size() % file_header_bytes != 0) {
    throw FormatError("the length of the headers is " + std::to_string(headers.size()) +
                          "; must be a multiple of " + std::to_string(file_header_bytes),
                      0);
  }
  for (std::size_t at = 0; at < headers.size(); at += file_header_bytes) {
    headers_.push_back(read_header(bytes_of(headers.substr(at, file_header_bytes))));
    if (headers_.back().hash_id != HashId::xxh3_128) throw FormatError("the file has a secret key", at);
    if (__builtin_add_overflow(total_bytes_, headers_.back().body_bytes(), &total_bytes_)) {
      throw FormatError("the files have more than 2^64 bytes", at);
    }
  }
  filters_.reserve(headers_.size());
}

PartialLoad PartialLoad::of_file_start(std::string_view bytes) {
  PartialLoad load;
  load.header_bytes_ = bytes;
  return load;
}

void PartialLoad::append(std::uint64_t end, std::string_view bytes) {
  if (headers_.empty() || is_complete() || end < bytes.size() || end - bytes.size() != loaded_bytes_) {
    throw Refusal("ERR invalid offset - no link found");
  }
  const std::uint64_t body_bytes = headers_[filters_.size()].body_bytes();
  const std::uint64_t old_bytes = next_ ? next_->num_bytes() - file_header_bytes : 0;
  if (bytes.size() > body_bytes - old_bytes) {
    throw Refusal("ERR invalid chunk - Too big for current filter");
  }
  if (bytes.empty()) throw Refusal("ERR received bad data");
  if (!next_) {
    FilterLoader next(body_bytes);
    next.add(bytes_of(header_bytes_).subspan(filters_.size() * file_header_bytes, file_header_bytes));
    next_ = std::move(next);
  }
  try {
    next_->add(bytes_of(bytes));
  } catch (const FormatError&) {
    throw Refusal("ERR received bad data");
  } catch (const std::bad_alloc&) {
    if (next_->num_bytes() == 0) {
      next_.reset();
      loaded_bytes_ -= old_bytes;
    }
    throw;
  }
  if (next_->is_complete()) {
    filters_.push_back(std::move(*next_).take());
    next_.reset();
  }
  loaded_bytes_ += bytes.size();
}

std::string_view PartialLoad::piece(std::uint64_t offset) const {
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const std::uint64_t size = headers_[i].body_bytes();
    if (offset < size) return text_of(body_piece(filters_[i], offset, max_piece_bytes));
    offset -= size;
  }
  return next_ ? text_of(next_->body_piece(offset, max_piece_bytes)) : std::string_view();
}

std::uint64_t PartialLoad::memory_bytes() const noexcept {
  std::uint64_t bytes = sizeof *this + header_bytes_.size();
  const std::size_t num_allocated = filters_.size() + (next_ ? 1 : 0);
  for (std::size_t i = 0; i < num_allocated; ++i) bytes += sizeof(AnyFilter) + headers_[i].body_bytes();
  return bytes;
}

}  // namespace tally::redis

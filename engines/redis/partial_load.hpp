#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/any_filter.hpp"
#include "tally/serialization.hpp"

namespace tally::redis {

/// The most bytes in one piece of a dump, of a snapshot and of an append-only file.
inline constexpr std::uint64_t max_piece_bytes = std::uint64_t{1} << 20;

/// The bytes of words in memory, from `offset` on, at most a piece. A file's body has the same bytes.
std::string_view piece_of(std::span<const std::uint64_t> words, std::uint64_t offset);

/// The bytes of the body of a filter's file.
inline std::uint64_t body_bytes(const FilterView& filter) {
  return filter.words.size_bytes() + filter.side_words.size_bytes();
}
/// The body from `offset` on, at most a piece, and not beyond the end of the words or of the side table.
std::string_view body_piece(const FilterView& filter, std::uint64_t offset);

/// Filters whose Tally files arrive in pieces: first the headers of all files, then the bodies in order. Each filter is
/// checked with the last piece of its body.
class PartialLoad {
 public:
  /// `headers` are those of the files. Throws FormatError.
  explicit PartialLoad(std::string_view headers);

  const std::vector<FileHeader>& headers() const noexcept { return headers_; }
  std::string_view header_bytes() const noexcept { return header_bytes_; }
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  std::uint64_t loaded_bytes() const noexcept { return loaded_bytes_; }
  bool is_complete() const noexcept { return filters_.size() == headers_.size(); }

  /// The next bytes, of which the last is number `end`, counted from 1. Throws Refusal for a piece that does not begin
  /// where the last one ended, that goes beyond the end of a filter, or that completes a damaged filter; then nothing
  /// has changed.
  void append(std::uint64_t end, std::string_view bytes);

  /// What was loaded, from `offset` on, at most a piece.
  std::string_view piece(std::uint64_t offset) const;

  std::uint64_t memory_bytes() const noexcept;

  /// The filters, once all are complete.
  std::vector<AnyFilter> take() && { return std::move(filters_); }

 private:
  void begin_next();

  std::string header_bytes_;
  std::vector<FileHeader> headers_;
  std::vector<AnyFilter> filters_;    // those that are complete
  std::vector<std::byte> next_file_;  // what has arrived of the next one, with its header
  std::uint64_t total_bytes_ = 0;
  std::uint64_t loaded_bytes_ = 0;
};

}  // namespace tally::redis

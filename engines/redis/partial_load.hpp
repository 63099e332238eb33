#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/any_filter.hpp"
#include "tally/serialization/filter_loader.hpp"

namespace tally::redis {

/// The most bytes in one piece of a dump, of a snapshot and of an append-only file.
inline constexpr std::uint64_t max_piece_bytes = std::uint64_t{1} << 20;

inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Filters whose Tally files arrive in pieces: first the headers of all files, then the bodies in order. Each filter is
/// checked with the last piece of its body. Only one filter is loaded at a time, and in its own memory.
class PartialLoad {
 public:
  /// `headers` are those of the files. Throws FormatError. Allocates nothing for the bodies: a header can claim any size.
  explicit PartialLoad(std::string_view headers);
  /// Of a file that has less than a header yet. It has no headers, and takes no body.
  static PartialLoad of_file_start(std::string_view bytes);

  const std::vector<FileHeader>& headers() const noexcept { return headers_; }
  std::string_view header_bytes() const noexcept { return header_bytes_; }
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  std::uint64_t loaded_bytes() const noexcept { return loaded_bytes_; }
  bool is_complete() const noexcept { return !headers_.empty() && filters_.size() == headers_.size(); }

  /// The next bytes, of which the last is number `end`, counted from 1. Throws Refusal for a piece that does not begin
  /// where the last one ended, that goes beyond the end of a filter, or that completes a damaged filter; then nothing
  /// has changed. Throws std::bad_alloc; then nothing has changed either, or the load of this filter begins anew.
  void append(std::uint64_t end, std::string_view bytes);

  /// What was loaded, from `offset` on, at most a piece.
  std::string_view piece(std::uint64_t offset) const;

  std::uint64_t memory_bytes() const noexcept;

  /// The filters, once all are complete.
  std::vector<AnyFilter> take() && { return std::move(filters_); }

 private:
  PartialLoad() = default;

  std::string header_bytes_;
  std::vector<FileHeader> headers_;
  std::vector<AnyFilter> filters_;    // those that are complete
  std::optional<FilterLoader> next_;  // if some of its body has arrived
  std::uint64_t total_bytes_ = 0;
  std::uint64_t loaded_bytes_ = 0;
};

}  // namespace tally::redis

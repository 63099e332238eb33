#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/any_filter/filter_view.hpp"
#include "tally/export.hpp"
#include "tally/serialization/body_check.hpp"
#include "tally/serialization/file_header.hpp"

// A filter's file piece by piece, without a copy of the filter, for programs that send or store it themselves.
// `serialize` returns the same bytes: the header, and then all pieces of the body. FilterLoader reads them.

namespace tally {

/// The first bytes of the file. Reads the whole filter once, for the checksum, so a caller that asks for many pieces
/// keeps it. Allocates nothing.
TALLY_EXPORT std::array<std::byte, file_header_bytes> file_header(const FilterView& filter);

/// The same with 0 as the checksum of the body, which it does not read: for what has no body, such as a description from
/// which an empty filter is made. No file begins with it.
TALLY_EXPORT std::array<std::byte, file_header_bytes> file_header_without_body(const FilterView& filter);

/// The checksum of a body whose pieces are added in order, for a program that must not be busy for as long as to read a
/// large filter. The filter must not change meanwhile.
class BodyChecksum {
 public:
  /// The next bytes of the body.
  void add(std::span<const std::byte> piece) noexcept {
    checksum_.add(piece);
    num_bytes_ += piece.size();
  }
  /// Bytes that have been added.
  std::uint64_t num_bytes() const noexcept { return num_bytes_; }
  std::uint64_t value() const noexcept { return checksum_.value(); }

 private:
  detail::Checksum checksum_;
  std::uint64_t num_bytes_ = 0;
};

/// The same header without reading the filter. Throws std::invalid_argument unless the whole body has been added.
TALLY_EXPORT std::array<std::byte, file_header_bytes> file_header(const FilterView& filter,
                                                                  const BodyChecksum& checksum);

/// The bytes of the body from `offset` on, where they are in memory: at most `max_bytes`, and fewer where memory or the
/// body ends; none from the end of the body on. Valid until the filter changes. The body has filter.shape.num_bytes().
TALLY_EXPORT std::span<const std::byte> body_piece(const FilterView& filter, std::uint64_t offset,
                                                   std::uint64_t max_bytes) noexcept;

}  // namespace tally

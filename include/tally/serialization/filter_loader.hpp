#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tally/any_filter.hpp"
#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"
#include "tally/serialization/body_check.hpp"
#include "tally/serialization/file_header.hpp"

namespace tally {

/// Loads a filter's file whose bytes arrive in pieces of any size. The bytes go straight to where the filter will have
/// them, so at its peak a load takes the memory of the filter, and 8 bytes per entry of a side table while it is checked.
///
/// The memory is allocated with the last byte of the header, and only if the body has at most `max_body_bytes`: a header
/// can claim any size.
class TALLY_EXPORT FilterLoader {
 public:
  explicit FilterLoader(std::uint64_t max_body_bytes, const std::optional<HashKey>& key = {});

  /// The next bytes of the file. They are checked as they arrive. What is wrong is thrown with the last byte of the header
  /// or of the body, with the errors of `deserialize`; for a key, and for a body that is too long, with the last byte of
  /// the header. Throws FormatError (FileKindError for a file that is not a filter), also for bytes after the end;
  /// std::invalid_argument for a missing or wrong key; std::bad_alloc. Then nothing has changed: other bytes can be added instead. Except
  /// if there is no memory to make the filter of a complete file: then num_bytes() is 0, and the load begins anew.
  void add(std::span<const std::byte> bytes);

  /// Bytes of the file that have been added.
  std::uint64_t num_bytes() const noexcept { return num_bytes_; }
  /// Once all of it has been added.
  const std::optional<FileHeader>& header() const noexcept { return header_; }
  /// Whether the file has been added to its end, and is undamaged.
  bool is_complete() const noexcept { return filter_.has_value(); }

  /// The bytes of the body that have been added, from `offset` on, as body_piece gives those of a filter.
  std::span<const std::byte> body_piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept;

  /// The filter. Throws FormatError, as `deserialize` does for the bytes so far, if the end is missing.
  AnyFilter take() &&;

 private:
  void begin_body();
  detail::BodyBytes body() const noexcept;
  std::span<std::byte> free_bytes() noexcept;
  void forget_after(std::uint64_t num_bytes) noexcept;

  std::uint64_t max_body_bytes_;
  std::optional<HashKey> key_;
  std::array<std::byte, file_header_bytes> header_bytes_{};
  std::optional<FileHeader> header_;
  detail::AlignedWords words_;
  detail::AlignedWords side_words_;
  detail::BodyCheck check_;
  std::uint64_t num_bytes_ = 0;
  std::optional<AnyFilter> filter_;
};

}  // namespace tally

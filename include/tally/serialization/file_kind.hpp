#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tally/export.hpp"
#include "tally/serialization/format_error.hpp"

namespace tally {

/// What a file holds; files store these numbers, which are never reused. The numbers of filters are those of
/// FilterKind.
enum class FileKind : std::uint16_t {
  bloom = 1,
  blocked_bloom = 2,
  counting_bloom = 3,
  threshold = 4,
  dleft = 5,
  count_min = 6,
  top_keys = 7,
  space_saving = 8,
  count_min_window = 9,
  compact_dleft = 10,
  blocked_counting_bloom = 11
};

/// "bloom", ..., "blocked-counting-bloom", as FilterKind has them; "top-keys", "space-saving" or "count-min-window".
TALLY_EXPORT std::string_view name_of(FileKind kind) noexcept;

/// Whether `load` reads the file, as an AnyFilter; otherwise `load_sketch` reads it, as an AnySketch.
constexpr bool is_filter(FileKind kind) noexcept {
  return kind <= FileKind::count_min || kind >= FileKind::compact_dleft;
}

/// The kind of a file that begins with these bytes. Throws FormatError unless they are a header with the
/// right checksum; the rest of the header is not checked.
TALLY_EXPORT FileKind file_kind(std::span<const std::byte> bytes);

/// A file of another kind than the requested one. what(): "tally file: is a top-keys file; must be a filter
/// (at byte 10)".
class TALLY_EXPORT FileKindError : public FormatError {
 public:
  FileKindError(FileKind kind, const std::string& rule, const std::string& subject = "tally file");

  FileKind kind() const noexcept { return kind_; }

  /// The same error about another subject.
  FileKindError said_of(const std::string& subject) const { return {kind_, rule_, subject}; }

 private:
  FileKind kind_;
  std::string rule_;
};

}  // namespace tally

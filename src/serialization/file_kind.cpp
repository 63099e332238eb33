#include "tally/serialization/file_kind.hpp"

#include "serialization/fields.hpp"

namespace tally {

std::string_view name_of(FileKind kind) noexcept {
  switch (kind) {
    case FileKind::top_keys:
      return "top-keys";
    case FileKind::space_saving:
      return "space-saving";
    case FileKind::count_min_window:
      return "count-min-window";
    default:
      return name_of(static_cast<FilterKind>(kind));
  }
}

FileKindError::FileKindError(FileKind kind, const std::string& rule, const std::string& subject)
    : FormatError("is a " + std::string(name_of(kind)) + " file; must be " + rule, detail::kind_at, subject),
      kind_(kind),
      rule_(rule) {}

}  // namespace tally

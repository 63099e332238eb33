#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "input/fields/field_selector.hpp"

namespace tally::cli {

struct InputOptions;

/// Selects the keys of lines, and leaves out lines that have none if those are to be skipped.
class LinesWithKeys {
 public:
  explicit LinesWithKeys(const InputOptions& input);

  struct Selected {
    std::span<const std::string_view> keys;
    std::span<const std::string_view> lines;  ///< of these keys
    /// The first line without a key, if it is not to be skipped; the keys are then those before it.
    std::optional<std::size_t> refused;
  };
  /// Valid until the next call.
  Selected select(FieldSelector& fields, std::span<const std::string_view> lines) {
    const std::span<const std::string_view> keys = fields.select_all(lines, keys_);
    if (!fields.refuses_lines()) return {keys, lines, std::nullopt};
    return without_bad(lines);
  }

 private:
  Selected without_bad(std::span<const std::string_view> lines);

  bool skips_bad_;
  std::vector<std::string_view> keys_;
  std::vector<std::string_view> lines_;
};

}  // namespace tally::cli

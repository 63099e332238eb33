#pragma once

#include <string_view>
#include <vector>

namespace tally::cli {

/// A type of the catalogue: "[string]" is an array, "number or null" has two alternatives.
class JsonType {
 public:
  explicit JsonType(std::string_view text) : text_(text) {}

  std::vector<JsonType> alternatives() const;
  bool is_array() const { return text_.starts_with('['); }
  JsonType element() const { return JsonType(text_.substr(1, text_.size() - 2)); }
  /// "integer" and the like: neither an array nor the name of a record.
  bool is_plain() const;
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

}  // namespace tally::cli

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tally::cli {

/// Reads values of JSON objects, one object per line, by simdjson.
class JsonFields {
 public:
  /// Paths such as "user.id" or "items.0", or JSON pointers such as "/a.b/c". Throws std::invalid_argument, with the name of
  /// the option, for an empty part.
  JsonFields(const std::vector<std::string>& paths, std::string_view flag);
  ~JsonFields();

  /// Appends the values in the order of the paths, valid until the next call: texts without their quotes and escapes, and
  /// numbers, true, false, arrays and objects as JSON without blanks. Returns why the line is bad; empty if it is good.
  std::string_view read(std::string_view line, std::vector<std::string_view>& values);

 private:
  struct Parser;

  std::vector<std::string> paths_;
  std::vector<std::string> pointers_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tally::cli

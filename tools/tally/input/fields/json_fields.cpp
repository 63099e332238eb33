#include "input/fields/json_fields.hpp"

#include <simdjson.h>

#include <deque>
#include <stdexcept>

namespace tally::cli {
namespace {

namespace dom = simdjson::dom;

/// The parser takes a multiple of this.
constexpr std::size_t most_line_bytes = std::size_t{16} << 20;

/// A JSON pointer (RFC 6901).
std::string pointer_of(const std::string& path, std::string_view flag) {
  if (path.starts_with('/')) return path;
  const std::string parts = path.starts_with('.') ? path : '.' + path;
  std::string pointer;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char byte = parts[i];
    if (byte == '.' && (i + 1 == parts.size() || parts[i + 1] == '.'))
      throw std::invalid_argument(std::string(flag) + ": the path '" + path +
                                  "' has an empty part; write it as user.id");
    if (byte == '.') pointer += '/';
    else if (byte == '~') pointer += "~0";
    else if (byte == '/') pointer += "~1";
    else pointer += byte;
  }
  return pointer;
}

}  // namespace

struct JsonFields::Parser {
  dom::parser parser{most_line_bytes};
  std::deque<std::string> texts;  // of values that are no strings
  std::string why;
};

JsonFields::JsonFields(const std::vector<std::string>& paths, std::string_view flag)
    : paths_(paths), parser_(std::make_unique<Parser>()) {
  for (const std::string& path : paths) pointers_.push_back(pointer_of(path, flag));
}

JsonFields::~JsonFields() = default;

std::string_view JsonFields::read(std::string_view line, std::vector<std::string_view>& values) {
  Parser& own = *parser_;
  own.texts.clear();
  if (line.size() > most_line_bytes) return own.why = "the line is longer than 16 MiB, the most for JSON";
  dom::element document;
  if (const auto error = own.parser.parse(line.data(), line.size()).get(document))
    return own.why = std::string("the line is not JSON: ") + simdjson::error_message(error);
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    dom::element value;
    if (document.at_pointer(pointers_[i]).get(value) || value.is_null())
      return own.why = "'" + paths_[i] + "' is missing or null";
    std::string_view text;
    values.push_back(value.get(text) ? std::string_view(own.texts.emplace_back(simdjson::minify(value)))
                                     : text);
  }
  return {};
}

}  // namespace tally::cli

#include "text/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace tally::cli {
namespace {

// The length of the character at the start; 0 if it is invalid (Unicode 15, table 3-7).
std::size_t length_of_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

void append_character(std::string& text, char c) {
  constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view letters = "\"\\bfnrt";
  if (const std::size_t at = escaped.find(c); at != std::string_view::npos) {
    text += '\\';
    text += letters[at];
  } else if (static_cast<unsigned char>(c) < 0x20) {
    text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  } else {
    text += c;
  }
}

void append_text(std::string& text, std::string_view value) {
  text += '"';
  while (!value.empty()) {
    const std::size_t length = length_of_character(value);
    if (length == 0) text += "\xef\xbf\xbd";
    else if (length == 1) append_character(text, value[0]);
    else text += value.substr(0, length);
    value.remove_prefix(std::max<std::size_t>(length, 1));
  }
  text += '"';
}

// The fewest digits that are read back as the same number; "1.0", not "1". JSON has no infinity.
void append_number(std::string& text, double value) {
  if (!std::isfinite(value)) {
    text += "null";
    return;
  }
  std::array<char, 32> buffer{};
  const double size = std::abs(value);
  const bool is_plain = value == 0 || (size >= 1e-4 && size < 1e15);
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  const char* const end = std::to_chars(buffer.begin(), buffer.end(), value, format).ptr;
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  text += digits;
  if (is_plain && digits.find('.') == std::string_view::npos) text += ".0";
}

}  // namespace

Json::Json(std::initializer_list<Json> values) {
  const bool is_object = std::ranges::all_of(values, [](const Json& value) {
    const Array* const pair = value.get_if<Array>();
    return pair != nullptr && pair->size() == 2 && pair->front().get_if<std::string>() != nullptr;
  });
  if (!is_object) {
    value_ = Array(values);
    return;
  }
  Object members;
  members.reserve(values.size());
  for (const Json& value : values) {
    const Array& pair = std::get<Array>(value.value_);
    members.emplace_back(std::get<std::string>(pair[0].value_), pair[1]);
  }
  value_ = std::move(members);
}

Json& Json::operator[](std::string_view name) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object{};
  Object& members = std::get<Object>(value_);
  const auto member = std::ranges::find(members, name, &Member::first);
  if (member != members.end()) return member->second;
  return members.emplace_back(std::string(name), nullptr).second;
}

void Json::update(const Json& object) {
  for (const Member& member : object.members()) (*this)[member.first] = member.second;
}

const Json* Json::find(std::string_view name) const {
  const Object* const members = get_if<Object>();
  if (members == nullptr) return nullptr;
  const auto member = std::ranges::find(*members, name, &Member::first);
  return member == members->end() ? nullptr : &member->second;
}

const Json::Array& Json::elements() const {
  static const Array none;
  const Array* const own = get_if<Array>();
  return own == nullptr ? none : *own;
}

std::string Json::dump(int indent) const {
  std::string text;
  append_to(text, indent, 0);
  return text;
}

void Json::append_to(std::string& text, int indent, int depth) const {
  const auto append_all = [&](char open, const auto& values, char close, auto append) {
    const auto new_line = [&](int level) {
      if (indent < 0 || values.empty()) return;
      text += '\n';
      text.append(static_cast<std::size_t>(indent * level), ' ');
    };
    text += open;
    for (const auto& value : values) {
      if (&value != &values.front()) text += ',';
      new_line(depth + 1);
      append(value);
    }
    new_line(depth);
    text += close;
  };
  const auto append = [&]<class Value>(const Value& value) {
    if constexpr (std::is_same_v<Value, std::nullptr_t>) text += "null";
    else if constexpr (std::is_same_v<Value, bool>) text += value ? "true" : "false";
    else if constexpr (std::is_same_v<Value, double>) append_number(text, value);
    else if constexpr (std::is_same_v<Value, std::string>) append_text(text, value);
    else if constexpr (std::is_same_v<Value, Array>)
      append_all('[', value, ']', [&](const Json& element) { element.append_to(text, indent, depth + 1); });
    else if constexpr (std::is_same_v<Value, Object>)
      append_all('{', value, '}', [&](const Member& member) {
        append_text(text, member.first);
        text += indent < 0 ? ":" : ": ";
        member.second.append_to(text, indent, depth + 1);
      });
    else text += fmt::format_int(value).c_str();
  };
  std::visit(append, value_);
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace tally::cli

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tally::cli {

/// A JSON value for printing: {{"name", 1}, {"list", {1, 2}}} is an object with two members, which keep their
/// order. A list whose elements are all pairs of a text and a value is an object, any other list an array.
class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json(std::nullptr_t = nullptr) {}
  template <class Bool>
  requires std::same_as<Bool, bool> Json(Bool value) : value_(value) {}
  template <std::unsigned_integral Integer>
  requires(!std::same_as<Integer, bool>) Json(Integer value) : value_(std::uint64_t{value}) {}
  template <std::signed_integral Integer>
  Json(Integer value) : value_(std::int64_t{value}) {}
  Json(double value) : value_(value) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::initializer_list<Json> values);
  template <std::convertible_to<Json> Value>
  Json(const std::vector<Value>& values) : value_(Array(values.begin(), values.end())) {}

  static Json array() { return Json(Array{}); }
  static Json object();
  /// Throws std::invalid_argument with the error and its position.
  static Json parse(std::string_view text);
  static Json parse(std::istream& in);

  /// The member with this name; if there is none, appends a null. Null becomes an object; anything else
  /// throws std::bad_variant_access.
  Json& operator[](std::string_view name);
  /// Adds the members of an object, and replaces those with the same names.
  void update(const Json& object);
  void push_back(Json value) { std::get<Array>(value_).push_back(std::move(value)); }

  bool is_object() const { return std::holds_alternative<Object>(value_); }
  /// Null if there is no such member, or if this is not an object.
  const Json* find(std::string_view name) const;
  /// Empty unless it is an array.
  const Array& elements() const;
  const Object& members() const { return std::get<Object>(value_); }
  /// Null unless it has that type; so 1.0 is not a std::uint64_t.
  template <class Value>
  const Value* get_if() const {
    return std::get_if<Value>(&value_);
  }

  /// As text, without line breaks, or with the members of objects and arrays on lines of their own, each
  /// level indented by `indent` more blanks. Bytes that are not UTF-8 become U+FFFD.
  std::string dump(int indent = -1) const;

 private:
  explicit Json(Array values) : value_(std::move(values)) {}
  void append_to(std::string& text, int indent, int depth) const;

  std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string, Array, Object> value_ =
      nullptr;
};

inline Json Json::object() {
  Json json;
  json.value_ = Object{};
  return json;
}

/// Null if there is no value.
template <class Value>
Json json_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Whether JSON can hold the text unchanged.
bool is_utf8(std::string_view text) noexcept;

}  // namespace tally::cli

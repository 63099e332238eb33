#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "text/json.hpp"
#include "text/json_member.hpp"
#include "text/shortened.hpp"

// The only file that includes the library for parsing, which takes two seconds to compile.

namespace tally::cli {
namespace {

Json from_library(const nlohmann::ordered_json& value) {
  using Type = nlohmann::ordered_json::value_t;
  switch (value.type()) {
    case Type::object: {
      Json object = Json::object();
      for (const auto& [name, member] : value.items()) object[name] = from_library(member);
      return object;
    }
    case Type::array: {
      Json array = Json::array();
      for (const auto& element : value) array.push_back(from_library(element));
      return array;
    }
    case Type::string:
      return value.get<std::string>();
    case Type::boolean:
      return value.get<bool>();
    case Type::number_unsigned:
      return value.get<std::uint64_t>();
    case Type::number_integer:
      return value.get<std::int64_t>();
    case Type::number_float:
      return value.get<double>();
    default:
      return nullptr;
  }
}

/// Takes the events of a parser: one object whose values are texts, counts and lists of texts.
class MemberReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit MemberReader(std::span<const JsonMember> members) : members_(members) {}

  std::size_t num_members() const { return given_.size(); }

  bool start_object(std::size_t) override {
    if (is_in_object_) refuse();
    return is_in_object_ = true;
  }
  bool end_object() override { return true; }
  bool key(std::string& name) override {
    const auto found = std::ranges::find(members_, name, &JsonMember::name);
    if (found == members_.end()) {
      std::vector<std::string_view> names;
      for (const JsonMember& member : members_) names.push_back(member.name);
      throw std::invalid_argument(
          fmt::format("there is no member '{}'; give {}", shortened(name), fmt::join(names, " or ")));
    }
    member_ = &*found;
    if (std::ranges::find(given_, member_) != given_.end())
      throw std::invalid_argument(fmt::format("'{}' is given twice; give it once", name));
    given_.push_back(member_);
    return true;
  }
  bool start_array(std::size_t) override {
    if (is_in_list_ || as<JsonMember::TakeText>() == nullptr) refuse();
    return is_in_list_ = true;
  }
  bool end_array() override {
    is_in_list_ = false;
    return true;
  }
  bool string(std::string& text) override {
    if (is_in_list_) {
      (*as<JsonMember::TakeText>())(text);
    } else if (const auto* const place = as<JsonMember::Text>()) {
      **place = text;
    } else {
      refuse(text);
    }
    return true;
  }
  bool number_unsigned(std::uint64_t value) override {
    const auto* const count = as<JsonMember::Count>();
    if (count == nullptr || value > count->most) refuse(std::to_string(value));
    *count->value = value;
    return true;
  }
  bool number_integer(std::int64_t value) override { refuse(std::to_string(value)); }
  bool number_float(double, const std::string& text) override { refuse(text); }
  bool null() override { refuse("null"); }
  bool boolean(bool value) override { refuse(value ? "true" : "false"); }
  bool binary(binary_t&) override { refuse(); }
  bool parse_error(std::size_t position, const std::string& last, const nlohmann::json::exception&) override {
    throw std::invalid_argument(fmt::format(
        "the body is not JSON in UTF-8: it is wrong at byte {}, at '{}'", position,
        shortened(std::string_view(last).substr(last.size() - std::min<std::size_t>(last.size(), 40)))));
  }

 private:
  /// Null if the current member is of another type.
  template <class Place>
  const Place* as() const {
    return member_ == nullptr ? nullptr : std::get_if<Place>(&member_->value);
  }

  [[noreturn]] void refuse(std::string_view value = "") const {
    if (member_ == nullptr) throw std::invalid_argument("the body must be a JSON object");
    const auto* const count = as<JsonMember::Count>();
    if (count != nullptr && !value.empty())
      throw std::invalid_argument(fmt::format("'{}' is {}; must be a whole number from 0 to {}",
                                              member_->name, shortened(value), count->most));
    throw std::invalid_argument(fmt::format("'{}' must be {}", member_->name,
                                            count != nullptr                    ? "a whole number"
                                            : as<JsonMember::Text>() != nullptr ? "a text"
                                                                                : "a list of texts"));
  }

  std::span<const JsonMember> members_;
  const JsonMember* member_ = nullptr;  // whose value is read
  std::vector<const JsonMember*> given_;
  bool is_in_object_ = false;
  bool is_in_list_ = false;
};

}  // namespace

std::size_t parse_members(std::string_view text, std::span<const JsonMember> members) {
  MemberReader reader(members);
  (void)nlohmann::json::sax_parse(text, &reader);
  return reader.num_members();
}

Json Json::parse(std::string_view text) {
  constexpr int most_depth = 100;  // values are copied and destroyed level by level
  const auto check_depth = [](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
    if (depth > most_depth) throw std::invalid_argument("it is nested more than 100 levels deep");
    return true;
  };
  try {
    return from_library(nlohmann::ordered_json::parse(text, check_depth));
  } catch (const nlohmann::json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

Json Json::parse(std::istream& in) {
  return parse(std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()));
}

}  // namespace tally::cli

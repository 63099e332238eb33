#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "text/json.hpp"

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

}  // namespace

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

#include "arguments.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "files/shape_json.hpp"

namespace tally::page {
namespace {

/// JavaScript writes large whole numbers, and programs may write 1e6, as real ones.
std::optional<std::uint64_t> whole_of(const Json& value) {
  if (const auto* const whole = value.get_if<std::uint64_t>()) return *whole;
  const auto* const real = value.get_if<double>();
  if (real == nullptr || !(*real >= 0 && *real < 0x1p64) || *real != std::floor(*real)) return std::nullopt;
  return static_cast<std::uint64_t>(*real);
}

/// What was given, short enough for a message.
std::string text_of(const Json& value) {
  constexpr std::size_t most = 60;
  std::string text = value.dump();
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

}  // namespace

Arguments::Arguments(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (object.is_object()) return;
  const std::string name = path_.empty() ? "the argument" : "'" + path_.substr(0, path_.size() - 1) + "'";
  throw std::invalid_argument(name + " is " + text_of(object) + "; must be an object");
}

std::string Arguments::shown(std::string_view name) const { return "'" + path_ + std::string(name) + "'"; }

void Arguments::refuse(std::string_view name, const Json& value, std::string_view rule) const {
  throw std::invalid_argument(shown(name) + " is " + text_of(value) + "; must be " + std::string(rule));
}

const Json* Arguments::find(std::string_view name) {
  asked_for_.push_back(name);
  const Json* const value = object_.find(name);
  return value == nullptr || value->get_if<std::nullptr_t>() != nullptr ? nullptr : value;
}

const Json& Arguments::get(std::string_view name) {
  const Json* const value = find(name);
  if (value == nullptr) throw std::invalid_argument(shown(name) + " is missing");
  return *value;
}

std::uint64_t Arguments::whole(std::string_view name, const Json& value, std::uint64_t most) const {
  const std::optional<std::uint64_t> number = whole_of(value);
  if (!number || *number > most) refuse(name, value, "a whole number, 0 to " + std::to_string(most));
  return *number;
}

void Arguments::read(std::string_view name, double& target) {
  const Json* const value = find(name);
  if (value == nullptr) return;
  if (const auto* const natural = value->get_if<std::uint64_t>()) {
    target = static_cast<double>(*natural);
  } else if (const auto* const integer = value->get_if<std::int64_t>()) {
    target = static_cast<double>(*integer);
  } else if (const auto* const real = value->get_if<double>()) {
    target = *real;
  } else {
    refuse(name, *value, "a number");
  }
}

void Arguments::read(std::string_view name, bool& target) {
  const Json* const value = find(name);
  if (value == nullptr) return;
  const auto* const own = value->get_if<bool>();
  if (own == nullptr) refuse(name, *value, "true or false");
  target = *own;
}

void Arguments::read(std::string_view name, std::string& target) {
  const Json* const value = find(name);
  if (value == nullptr) return;
  const auto* const own = value->get_if<std::string>();
  if (own == nullptr) refuse(name, *value, "a text");
  target = *own;
}

std::size_t Arguments::index_of(std::string_view name, const Json& value,
                                const std::vector<std::string_view>& names) const {
  const auto* const own = value.get_if<std::string>();
  std::string rule;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (own != nullptr && *own == names[i]) return i;
    rule.append(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ").append(names[i]);
  }
  refuse(name, value, rule);
}

std::vector<std::uint64_t> Arguments::whole_numbers(std::string_view name, std::uint64_t least,
                                                    std::size_t most) {
  const Json& list = get(name);
  const std::string rule =
      "1 to " + std::to_string(most) + " whole numbers from " + std::to_string(least) + " on";
  if (list.elements().empty() || list.elements().size() > most) refuse(name, list, rule);
  std::vector<std::uint64_t> numbers;
  for (const Json& element : list.elements()) {
    const std::optional<std::uint64_t> number = whole_of(element);
    if (!number || *number < least) refuse(name, element, rule);
    numbers.push_back(*number);
  }
  return numbers;
}

FilterShape Arguments::shape() {
  const Json& shape = get("shape");
  if (!shape.is_object()) refuse("shape", shape, "the shape of a structure, as plans have it");
  try {
    return cli::shape_from_json(shape);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(shown("shape") + ": " + error.what());
  }
}

void Arguments::refuse_others() const {
  for (const auto& [name, value] : object_.members()) {
    if (std::find(asked_for_.begin(), asked_for_.end(), name) == asked_for_.end())
      throw std::invalid_argument("there is no field " + shown(name) + "; leave it out");
  }
}

}  // namespace tally::page

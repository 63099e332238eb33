#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/shapes/filter.hpp"
#include "text/json.hpp"

namespace tally::page {

using cli::Json;

/// The most values in a list, each of which is a point of a curve.
inline constexpr std::size_t most_points = 1000;

/// The fields of an object that JavaScript passes, each read by its name. A field that is null counts as absent.
///
/// Every function throws std::invalid_argument that names the field: "'num_keys' is -1; must be a whole number, 0 to ...".
/// The JSON must outlive this object.
class Arguments {
 public:
  /// `path` comes before the names of fields in messages: "zipf." for the members of "zipf".
  explicit Arguments(const Json& object, std::string path = "");

  /// Null if there is no such field.
  const Json* find(std::string_view name);
  /// Must be there.
  const Json& get(std::string_view name);

  // A target keeps its value if the field is absent.
  template <class Integer>
  requires std::unsigned_integral<Integer> &&(!std::same_as<Integer, bool>)  //
      void read(std::string_view name, Integer& target) {
    if (const Json* const value = find(name))
      target = static_cast<Integer>(whole(name, *value, std::numeric_limits<Integer>::max()));
  }
  void read(std::string_view name, double& target);
  void read(std::string_view name, bool& target);
  void read(std::string_view name, std::string& target);
  template <class Value>
  void read(std::string_view name, std::optional<Value>& target) {
    if (find(name) == nullptr) return;
    Value value{};
    read(name, value);
    target = std::move(value);
  }
  /// One of these values, by its name.
  template <class Value>
  void read_choice(std::string_view name, std::optional<Value>& target,
                   std::initializer_list<Value> choices) {
    const Json* const value = find(name);
    if (value == nullptr) return;
    std::vector<std::string_view> names;
    for (const Value choice : choices) names.push_back(name_of(choice));
    target = *(choices.begin() + index_of(name, *value, names));
  }

  // Fields that must be there.
  template <class Value>
  Value required(std::string_view name) {
    (void)get(name);
    Value value{};
    read(name, value);
    return value;
  }
  /// A list of 1 to `most` whole numbers from `least` on.
  std::vector<std::uint64_t> whole_numbers(std::string_view name, std::uint64_t least, std::size_t most);
  /// The shape of a filter in a "shape", as plans have it.
  FilterShape shape();

  /// Call it after all fields were read: throws for one that nobody asked for.
  void refuse_others() const;

  /// Throws: "'name' is value; must be rule".
  [[noreturn]] void refuse(std::string_view name, const Json& value, std::string_view rule) const;
  /// "'zipf.exponent'"
  std::string shown(std::string_view name) const;

 private:
  std::uint64_t whole(std::string_view name, const Json& value, std::uint64_t most) const;
  std::size_t index_of(std::string_view name, const Json& value,
                       const std::vector<std::string_view>& names) const;

  const Json& object_;
  std::string path_;
  std::vector<std::string_view> asked_for_;
};

}  // namespace tally::page

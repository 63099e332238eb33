#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tally::cli {

/// A member that an object may have, and where its value goes.
struct JsonMember {
  using Text = std::optional<std::string>*;
  struct Count {
    std::uint64_t* value;
    std::uint64_t most;
  };
  /// Of a list: called for each of its elements.
  using TakeText = std::function<void(std::string_view)>;

  std::string_view name;
  std::variant<Text, Count, TakeText> value;
};

/// Reads an object of a stranger, in one pass and without storing it. It may have only these members, each of them once. Returns
/// how many it had. Throws std::invalid_argument with what is wrong and what is allowed, and what a TakeText throws.
std::size_t parse_members(std::string_view text, std::span<const JsonMember> members);

}  // namespace tally::cli

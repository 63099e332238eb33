#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "redis_module_api.hpp"

namespace tally::redis {

/// The arguments of a command as a tree, from a line such as `key [CAPACITY capacity] [NX | XX] (item increment) ...`:
/// words in capital letters are given as they stand, the others are names, `[ ]` may be left out, and `...` repeats what
/// is before it. `key`, `destination` and `source` are keys.
class CommandSyntax {
 public:
  explicit CommandSyntax(std::string_view line);
  CommandSyntax(const CommandSyntax&) = delete;
  CommandSyntax& operator=(const CommandSyntax&) = delete;

  /// Valid as long as this object.
  api::CommandArgument* arguments() noexcept { return arguments_; }

 private:
  struct Sequence {
    std::vector<api::CommandArgument> arguments;
    bool is_choice = false;
  };

  /// Reads up to the end of the brackets that it begins in.
  Sequence read_sequence();
  api::CommandArgument read_word(std::string_view word);
  api::CommandArgument bracketed(Sequence sequence);
  std::string_view next_word() noexcept;
  std::string_view peek() const noexcept;
  const char* keep(std::string text);
  api::CommandArgument* keep(std::vector<api::CommandArgument> list);

  std::string_view rest_;
  std::deque<std::string> texts_;
  std::deque<std::vector<api::CommandArgument>> lists_;
  api::CommandArgument* arguments_;
};

}  // namespace tally::redis

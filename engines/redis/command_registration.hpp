#pragma once

#include <cstdint>

#include "command.hpp"
#include "redis_module_api.hpp"

namespace tally::redis {

/// Makes an access category, such as `@bloom`, where the server has categories of modules.
void add_category(api::Context* context, const char* category) noexcept;

enum class Registration : std::uint8_t {
  done,
  name_is_taken,
  is_not_described  ///< the server refuses its keys, its documentation or its categories
};

/// Registers a command by this name, with its keys, its documentation and its access categories, one of which is that of
/// its family.
Registration register_command(api::Context* context, const Command& command, const char* name,
                              const char* category);

}  // namespace tally::redis

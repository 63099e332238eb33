#pragma once

#include "command.hpp"
#include "redis_module_api.hpp"

namespace tally::redis {

/// Makes an access category, such as `@bloom`, where the server has categories of modules.
void add_category(api::Context* context, const char* category) noexcept;

/// Registers a command by this name, with its keys, its documentation and its access categories, one of which is that of
/// its family. Returns false if the name is taken.
bool register_command(api::Context* context, const Command& command, const char* name, const char* category);

}  // namespace tally::redis

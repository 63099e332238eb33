#include <algorithm>
#include <span>
#include <string>

#include "call.hpp"
#include "command.hpp"
#include "command_registration.hpp"
#include "data_type.hpp"
#include "module_options.hpp"
#include "redis_module_api.hpp"
#include "server_memory.hpp"
#include "value_types.hpp"

// What happens when Redis loads the module. Every function returns false after it has written the reason to the log.

namespace tally::redis {
namespace {

constexpr int module_version = 1;

/// The names that belong to Tally, and those that another module may have.
enum class Names { own, compatible };

/// A table, and the access category of its commands.
struct Family {
  std::span<const Command> commands;
  const char* category;
};

bool register_named(api::Context* context, const Command& command, const std::string& name,
                    const char* category, Names names) {
  const Registration registration = register_command(context, command, name.c_str(), category);
  if (registration == Registration::done) return true;
  if (registration == Registration::is_not_described) {
    api::log(context, "warning", "tally: this server refuses the description of the command %s",
             name.c_str());
  } else if (names == Names::compatible) {
    api::log(context, "warning",
             "tally: another module has registered the command %s; load tally with COMPAT no, which has the "
             "same commands as TALLY.%s and so on, or do not load the other module",
             name.c_str(), name.c_str());
  } else {
    api::log(context, "warning", "tally: the command %s is registered already; is the module loaded twice?",
             name.c_str());
  }
  return false;
}

/// With their own names unless COMPAT no, and always with TALLY. before them: replicas and append-only files receive only
/// those, and so do not depend on the option.
bool register_compatible(api::Context* context, const Family& family) {
  add_category(context, family.category);
  return std::ranges::all_of(family.commands, [&](const Command& command) {
    const std::string name = command.name;
    return register_named(context, command, "TALLY." + name, family.category, Names::own) &&
           (!module_options.compatible_names ||
            register_named(context, command, name, family.category, Names::compatible));
  });
}

bool register_own(api::Context* context, std::span<const Command> commands) {
  return std::ranges::all_of(commands, [&](const Command& command) {
    return register_named(context, command, command.name, "tally", Names::own);
  });
}

template <class Value>
bool register_type(api::Context* context) {
  if (create_data_type<Value>(context)) return true;
  api::log(context, "warning", "tally: the data type %s is registered already", Value::type_name);
  return false;
}

bool read_options(const Call& call) {
  for (std::size_t i = 0; i < call.size(); i += 2) {
    const bool has_value = i + 1 < call.size();
    if (call.is_word(i, "COMPAT") && has_value && (call.is_word(i + 1, "YES") || call.is_word(i + 1, "NO"))) {
      module_options.compatible_names = call.is_word(i + 1, "YES");
      continue;
    }
    std::uint64_t* const number = call.is_word(i, "MAX-KEY-BYTES")    ? &module_options.max_key_bytes
                                  : call.is_word(i, "MAX-STEP-BYTES") ? &module_options.max_step_bytes
                                                                      : nullptr;
    const long long bytes = has_value ? call.integer(i + 1).value_or(0) : 0;
    if (number != nullptr && bytes >= 1) {
      *number = static_cast<std::uint64_t>(bytes);
      continue;
    }
    const std::string_view option = call.text(i);
    api::log(call.context(), "warning",
             "tally: cannot read the option %.*s; must be COMPAT yes, COMPAT no, or MAX-KEY-BYTES or "
             "MAX-STEP-BYTES "
             "and a number",
             static_cast<int>(option.size()), option.data());
    return false;
  }
  return true;
}

bool load(api::Context* context, const Call& arguments) try {
  use_server_memory();
  if (!read_options(arguments)) return false;
  if (ValueTypes::any_of([&]<class Value>() { return !register_type<Value>(context); })) return false;
  add_category(context, "tally");
  for (const auto commands : {own_commands(), filter_commands(), file_commands(), over_commands(),
                              packed_commands(), batch_commands(), summary_commands()}) {
    if (!register_own(context, commands)) return false;
  }
  for (const Family& family : {Family{bloom_commands(), "bloom"}, Family{cuckoo_commands(), "cuckoo"},
                               Family{count_min_commands(), "cms"}, Family{top_k_commands(), "topk"}}) {
    if (!register_compatible(context, family)) return false;
  }
  api::set_module_options(context, api::handles_io_errors);
  return true;
} catch (const std::bad_alloc&) {
  api::log(context, "warning", "tally: not enough memory to load the module");
  return false;
}

}  // namespace
}  // namespace tally::redis

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(
    tally::redis::api::Context* context, tally::redis::api::String** arguments, int count) noexcept {
  namespace api = tally::redis::api;
  const char* missing = api::resolve(context);
  if (missing != nullptr) {
    // Without RedisModule_Log there is no way to say what is missing.
    if (api::log != nullptr) {
      api::log(context, "warning",
               "tally: this server does not have %s; Redis 7.0 or later, or Valkey 8, has it", missing);
    }
    return 1;
  }
  api::set_module_attributes(context, "tally", tally::redis::module_version, api::interface_version);
  const tally::redis::Call call(context,
                                std::span<api::String* const>(arguments, static_cast<std::size_t>(count)));
  return tally::redis::load(context, call) ? api::ok : 1;
}

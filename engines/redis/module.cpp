#include <span>

#include "bloom_chain.hpp"
#include "call.hpp"
#include "command.hpp"
#include "count_min_value.hpp"
#include "data_type.hpp"
#include "module_options.hpp"
#include "redis_module_api.hpp"
#include "server_memory.hpp"

// What happens when Redis loads the module. Every function returns false after it has written the reason to the log.

namespace tally::redis {
namespace {

constexpr int module_version = 1;

bool register_commands(api::Context* context, std::span<const Command> commands) {
  for (const Command& command : commands) {
    if (api::create_command(context, command.name, command.function, command.flags, 1, 1, 1) == api::ok)
      continue;
    api::log(
        context, "warning",
        "tally: the command %s is registered already, perhaps by another module; load tally with COMPAT no, "
        "or do not load the other module",
        command.name);
    return false;
  }
  return true;
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
    const auto bytes = has_value ? call.integer(i + 1) : std::nullopt;
    if (call.is_word(i, "MAX-KEY-BYTES") && bytes && *bytes >= 1) {
      module_options.max_key_bytes = static_cast<std::uint64_t>(*bytes);
      continue;
    }
    const std::string_view option = call.text(i);
    api::log(
        call.context(), "warning",
        "tally: cannot read the option %.*s; must be COMPAT yes, COMPAT no, or MAX-KEY-BYTES and a number",
        static_cast<int>(option.size()), option.data());
    return false;
  }
  return true;
}

bool load(api::Context* context, const Call& arguments) {
  use_server_memory();
  if (!read_options(arguments)) return false;
  if (!register_type<BloomChain>(context) || !register_type<CountMinValue>(context)) return false;
  if (!register_commands(context, own_commands())) return false;
  if (module_options.compatible_names &&
      !(register_commands(context, bloom_commands()) && register_commands(context, count_min_commands()))) {
    return false;
  }
  api::set_module_options(context, api::handles_io_errors);
  return true;
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

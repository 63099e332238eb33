// A module that has a command of the name BF.ADD, as other modules do.

#include "redis_module_api.hpp"

namespace api = tally::redis::api;

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(api::Context* context, api::String**,
                                                                         int) noexcept {
  if (api::resolve(context) != nullptr) return 1;
  api::set_module_attributes(context, "other", 1, api::interface_version);
  const auto reply = [](api::Context* caller, api::String**, int) {
    return api::reply_with_simple_string(caller, "other");
  };
  return api::create_command(context, "BF.ADD", reply, "write", 1, 1, 1);
}

#include "redis_module_api.hpp"

namespace tally::redis::api {

const char* resolve(Context* context) noexcept {
  // The first pointer of the context is the function that looks up all others.
  using GetApi = int (*)(const char* name, void* function);
  const auto get_api = reinterpret_cast<GetApi>(*reinterpret_cast<void**>(context));
#define TALLY_REDIS_RESOLVE(name, redis_name, result, arguments) \
  if (get_api("RedisModule_" #redis_name, &(name)) != ok) return "RedisModule_" #redis_name;
  TALLY_REDIS_FUNCTIONS(TALLY_REDIS_RESOLVE)
#undef TALLY_REDIS_RESOLVE
#define TALLY_REDIS_RESOLVE_OPTIONAL(name, redis_name, result, arguments) \
  if (get_api("RedisModule_" #redis_name, &(name)) != ok) (name) = nullptr;
  TALLY_REDIS_OPTIONAL_FUNCTIONS(TALLY_REDIS_RESOLVE_OPTIONAL)
#undef TALLY_REDIS_RESOLVE_OPTIONAL
  return nullptr;
}

}  // namespace tally::redis::api

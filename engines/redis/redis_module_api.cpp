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
  if (get_api("RedisModule_TryAlloc", &try_allocate) != ok) try_allocate = nullptr;
  return nullptr;
}

}  // namespace tally::redis::api

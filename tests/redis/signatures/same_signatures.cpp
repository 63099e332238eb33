// Compiled by `check`: every function pointer of redis_module_api.hpp has the type of Redis's own header, with our names
// for the structures of Redis, and our structures have the members of its own at the same places.

#include <cstddef>
#include <type_traits>

#include "redis_module_api.hpp"
#include "redismodule.h"

namespace api = tally::redis::api;

/// Our type for one of Redis.
template <class T>
struct Ours {
  using Type = T;
};
template <class T>
using OursOf = typename Ours<T>::Type;

#define NAMED(theirs, ours) \
  template <>               \
  struct Ours<theirs> {     \
    using Type = api::ours; \
  }
NAMED(RedisModuleCtx, Context);
NAMED(RedisModuleString, String);
NAMED(RedisModuleKey, Key);
NAMED(RedisModuleIO, Io);
NAMED(RedisModuleDigest, Digest);
NAMED(RedisModuleType, Type);
NAMED(RedisModuleServerInfoData, ServerInfo);
NAMED(RedisModuleCommand, RegisteredCommand);
NAMED(RedisModuleCommandInfo, CommandInfo);
NAMED(RedisModuleTypeMethods, TypeMethods);
#undef NAMED
template <class T>
struct Ours<const T> {
  using Type = const OursOf<T>;
};
template <class T>
struct Ours<T*> {
  using Type = OursOf<T>*;
};
template <class Result, class... Arguments>
struct Ours<Result(Arguments...)> {
  using Type = OursOf<Result>(OursOf<Arguments>...);
};
template <class Result, class... Arguments>
struct Ours<Result(Arguments..., ...)> {
  using Type = OursOf<Result>(OursOf<Arguments>..., ...);
};

#define SAME(ours, theirs) \
  static_assert(std::is_same_v<decltype(api::ours), OursOf<decltype(theirs)>>, #theirs);
#include "functions.inc"

#define AT(ours, member, theirs, their_member)                                   \
  static_assert(offsetof(api::ours, member) == offsetof(theirs, their_member) && \
                    sizeof(api::ours::member) == sizeof(theirs::their_member),   \
                #theirs "::" #their_member)
AT(CommandArgument, name, RedisModuleCommandArg, name);
AT(CommandArgument, type, RedisModuleCommandArg, type);
AT(CommandArgument, key_spec, RedisModuleCommandArg, key_spec_index);
AT(CommandArgument, token, RedisModuleCommandArg, token);
AT(CommandArgument, flags, RedisModuleCommandArg, flags);
AT(CommandArgument, parts, RedisModuleCommandArg, subargs);
AT(KeySpec, flags, RedisModuleCommandKeySpec, flags);
AT(KeySpec, begin_search, RedisModuleCommandKeySpec, begin_search_type);
AT(KeySpec, position, RedisModuleCommandKeySpec, bs.index.pos);
AT(KeySpec, after, RedisModuleCommandKeySpec, bs);
AT(KeySpec, find_keys, RedisModuleCommandKeySpec, find_keys_type);
AT(KeySpec, find, RedisModuleCommandKeySpec, fk);
static_assert(sizeof(api::KeySpec) == sizeof(RedisModuleCommandKeySpec));
AT(CommandInfoVersion, version, RedisModuleCommandInfoVersion, version);
AT(CommandInfoVersion, history_entry_bytes, RedisModuleCommandInfoVersion, sizeof_historyentry);
AT(CommandInfoVersion, key_spec_bytes, RedisModuleCommandInfoVersion, sizeof_keyspec);
AT(CommandInfoVersion, argument_bytes, RedisModuleCommandInfoVersion, sizeof_arg);
AT(CommandInfo, version, RedisModuleCommandInfo, version);
AT(CommandInfo, summary, RedisModuleCommandInfo, summary);
AT(CommandInfo, complexity, RedisModuleCommandInfo, complexity);
AT(CommandInfo, since, RedisModuleCommandInfo, since);
AT(CommandInfo, history, RedisModuleCommandInfo, history);
AT(CommandInfo, tips, RedisModuleCommandInfo, tips);
AT(CommandInfo, arity, RedisModuleCommandInfo, arity);
AT(CommandInfo, key_specs, RedisModuleCommandInfo, key_specs);
AT(CommandInfo, arguments, RedisModuleCommandInfo, args);
AT(TypeMethods, version, RedisModuleTypeMethods, version);
AT(TypeMethods, rdb_load, RedisModuleTypeMethods, rdb_load);
AT(TypeMethods, rdb_save, RedisModuleTypeMethods, rdb_save);
AT(TypeMethods, aof_rewrite, RedisModuleTypeMethods, aof_rewrite);
AT(TypeMethods, mem_usage, RedisModuleTypeMethods, mem_usage);
AT(TypeMethods, digest, RedisModuleTypeMethods, digest);
AT(TypeMethods, free, RedisModuleTypeMethods, free);
AT(TypeMethods, free_effort, RedisModuleTypeMethods, free_effort);
AT(TypeMethods, unlink, RedisModuleTypeMethods, unlink);
AT(TypeMethods, copy, RedisModuleTypeMethods, copy);
AT(TypeMethods, defrag, RedisModuleTypeMethods, defrag);

static_assert(api::ok == REDISMODULE_OK);
static_assert(api::interface_version == REDISMODULE_APIVER_1);
static_assert(api::open_for_reading == REDISMODULE_READ && api::open_for_writing == REDISMODULE_WRITE);
static_assert(api::key_type_empty == REDISMODULE_KEYTYPE_EMPTY);
static_assert(api::length_follows == REDISMODULE_POSTPONED_LEN);
static_assert(api::is_replica == REDISMODULE_CTX_FLAGS_SLAVE);
static_assert(api::is_replicated == REDISMODULE_CTX_FLAGS_REPLICATED);
static_assert(api::is_loading == REDISMODULE_CTX_FLAGS_LOADING);
static_assert(api::is_resp3 == REDISMODULE_CTX_FLAGS_RESP3);
static_assert(api::is_loading_beside == REDISMODULE_CTX_FLAGS_ASYNC_LOADING);
static_assert(api::handles_io_errors == REDISMODULE_OPTIONS_HANDLE_IO_ERRORS);
static_assert(api::type_string == REDISMODULE_ARG_TYPE_STRING);
static_assert(api::type_integer == REDISMODULE_ARG_TYPE_INTEGER);
static_assert(api::type_double == REDISMODULE_ARG_TYPE_DOUBLE);
static_assert(api::type_key == REDISMODULE_ARG_TYPE_KEY);
static_assert(api::type_token == REDISMODULE_ARG_TYPE_PURE_TOKEN);
static_assert(api::type_one_of == REDISMODULE_ARG_TYPE_ONEOF);
static_assert(api::type_block == REDISMODULE_ARG_TYPE_BLOCK);
static_assert(api::argument_is_optional == REDISMODULE_CMD_ARG_OPTIONAL);
static_assert(api::argument_is_repeated == REDISMODULE_CMD_ARG_MULTIPLE);
static_assert(api::begin_at_position == REDISMODULE_KSPEC_BS_INDEX);
static_assert(api::find_range == REDISMODULE_KSPEC_FK_RANGE);
static_assert(api::find_number_of_keys == REDISMODULE_KSPEC_FK_KEYNUM);
static_assert(api::key_is_read == REDISMODULE_CMD_KEY_RO && api::key_is_changed == REDISMODULE_CMD_KEY_RW);
static_assert(api::key_is_overwritten == REDISMODULE_CMD_KEY_OW);
static_assert(api::reads_data == REDISMODULE_CMD_KEY_ACCESS &&
              api::updates_data == REDISMODULE_CMD_KEY_UPDATE);
static_assert(api::inserts_data == REDISMODULE_CMD_KEY_INSERT &&
              api::deletes_data == REDISMODULE_CMD_KEY_DELETE);

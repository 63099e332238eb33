#pragma once

#include <cstddef>
#include <cstdint>

// What this module uses of the C interface between Redis and its modules, written from its documentation
// (https://redis.io/docs/latest/develop/reference/modules/modules-api-ref/). The interface is stable: Redis 7.0
// and Valkey 8 have all of it.

namespace tally::redis::api {

// Redis defines these types; a module has only pointers to them. `Context` is RedisModuleCtx, and so on.
struct Context;
struct String;
struct Key;
struct Io;
struct Digest;
struct Type;
struct ServerInfo;
struct RegisteredCommand;

using CommandFunction = int (*)(Context*, String**, int);

/// RedisModuleTypeMethods of version 3, the last version in which this module needs a field.
struct TypeMethods {
  std::uint64_t version = 3;
  void* (*rdb_load)(Io*, int encoding_version) = nullptr;
  void (*rdb_save)(Io*, void* value) = nullptr;
  void (*aof_rewrite)(Io*, String* key, void* value) = nullptr;
  std::size_t (*mem_usage)(const void* value) = nullptr;
  void (*digest)(Digest*, void* value) = nullptr;
  void (*free)(void* value) = nullptr;
  int (*aux_load)(Io*, int encoding_version, int when) = nullptr;
  void (*aux_save)(Io*, int when) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(String* key, const void* value) = nullptr;
  void (*unlink)(String* key, const void* value) = nullptr;
  void* (*copy)(String* from_key, String* to_key, const void* value) = nullptr;
  int (*defrag)(void* defrag_context, String* key, void** value) = nullptr;
};

/// RedisModuleCommandArg: an argument of a command in COMMAND DOCS. A list of them ends with one without a name.
struct CommandArgument {
  const char* name = nullptr;
  int type = 0;
  int key_spec = 0;
  const char* token = nullptr;
  const char* summary = nullptr;
  const char* since = nullptr;
  int flags = 0;
  const char* deprecated_since = nullptr;
  CommandArgument* parts = nullptr;    // of one_of and of a block
  const char* display_text = nullptr;  // Redis 7.2 reads it whatever the version
};

// CommandArgument::type
inline constexpr int type_string = 0;
inline constexpr int type_integer = 1;
inline constexpr int type_double = 2;
inline constexpr int type_key = 3;
inline constexpr int type_token = 6;
inline constexpr int type_one_of = 7;
inline constexpr int type_block = 8;

// CommandArgument::flags
inline constexpr int argument_is_optional = 1 << 0;
inline constexpr int argument_is_repeated = 1 << 1;

/// For keys after a word, which this module does not need.
struct KeyWord {
  const char* word;
  int from;
};

/// RedisModuleCommandKeySpec: which arguments are keys. A list of them ends with one without begin_search.
struct KeySpec {
  const char* notes = nullptr;
  std::uint64_t flags = 0;
  int begin_search = 0;
  union {
    int position = 0;
    KeyWord after;
  };
  int find_keys = 0;
  /// A range: the last key (from the first one; -1: the last argument), the step, a limit.
  /// A number of keys: where it is (from `position`), the first key, the step.
  int find[3] = {};
};

inline constexpr int begin_at_position = 2;
inline constexpr int find_range = 2;
inline constexpr int find_number_of_keys = 3;

// KeySpec::flags: the first three say what happens to the key, the others what happens to what is in it.
inline constexpr std::uint64_t key_is_read = 1 << 0;
inline constexpr std::uint64_t key_is_changed = 1 << 1;
inline constexpr std::uint64_t key_is_overwritten = 1 << 2;
inline constexpr std::uint64_t reads_data = 1 << 4;
inline constexpr std::uint64_t updates_data = 1 << 5;
inline constexpr std::uint64_t inserts_data = 1 << 6;
inline constexpr std::uint64_t deletes_data = 1 << 7;

/// RedisModuleCommandInfoVersion: with it, a later server can read what this module was compiled with.
struct CommandInfoVersion {
  int version = 1;
  std::size_t history_entry_bytes = 2 * sizeof(const char*);
  std::size_t key_spec_bytes = sizeof(KeySpec);
  std::size_t argument_bytes = sizeof(CommandArgument);
};

/// RedisModuleCommandInfo: what COMMAND DOCS and COMMAND INFO say about a command.
struct CommandInfo {
  const CommandInfoVersion* version = nullptr;
  const char* summary = nullptr;
  const char* complexity = nullptr;
  const char* since = nullptr;
  void* history = nullptr;
  const char* tips = nullptr;
  int arity = 0;  // -N: at least N
  KeySpec* key_specs = nullptr;
  CommandArgument* arguments = nullptr;
};

inline constexpr int ok = 0;
inline constexpr int interface_version = 1;
inline constexpr int type_name_length = 9;

inline constexpr int open_for_reading = 1 << 0;
inline constexpr int open_for_writing = 1 << 1;
inline constexpr int key_type_empty = 0;

inline constexpr long length_follows = -1;  ///< for reply_with_array, before reply_set_array_length

// Flags of get_context_flags.
inline constexpr int is_replica = 1 << 3;
inline constexpr int is_replicated = 1 << 12;  ///< the command comes from the master
inline constexpr int is_loading = 1 << 13;     ///< a file is being loaded
inline constexpr int is_resp3 = 1 << 22;
inline constexpr int is_loading_beside = 1 << 23;  ///< a snapshot, while old values still answer

inline constexpr int handles_io_errors = 1 << 0;  ///< for set_module_options

// clang-format off
/// X(our name, the name in Redis without "RedisModule_", result, arguments)
#define TALLY_REDIS_FUNCTIONS(X)                                                                               \
  X(set_module_attributes, SetModuleAttribs, void, (Context*, const char* name, int version, int interface))   \
  X(set_module_options, SetModuleOptions, void, (Context*, int options))                                       \
  X(create_command, CreateCommand, int, (Context*, const char* name, CommandFunction, const char* flags,       \
                                         int first_key, int last_key, int key_step))                           \
  X(get_command, GetCommand, RegisteredCommand*, (Context*, const char* name))                                 \
  X(set_command_info, SetCommandInfo, int, (RegisteredCommand*, const CommandInfo*))                           \
  X(is_question_for_keys, IsKeysPositionRequest, int, (Context*))                                              \
  X(key_at, KeyAtPos, void, (Context*, int position))                                                          \
  X(create_data_type, CreateDataType, Type*, (Context*, const char* name, int encoding_version, TypeMethods*)) \
  X(log, Log, void, (Context*, const char* level, const char* format, ...))                                    \
  X(log_io_error, LogIOError, void, (Io*, const char* level, const char* format, ...))                         \
  X(get_context_flags, GetContextFlags, int, (Context*))                                                       \
  X(wrong_arity, WrongArity, int, (Context*))                                                                  \
  X(string_bytes, StringPtrLen, const char*, (const String*, std::size_t* length))                             \
  X(string_to_integer, StringToLongLong, int, (const String*, long long*))                                     \
  X(string_to_double, StringToDouble, int, (const String*, double*))                                           \
  X(create_string, CreateString, String*, (Context*, const char*, std::size_t))                                \
  X(free_string, FreeString, void, (Context*, String*))                                                        \
  X(open_key, OpenKey, Key*, (Context*, String* name, int mode))                                               \
  X(close_key, CloseKey, void, (Key*))                                                                         \
  X(delete_key, DeleteKey, int, (Key*))                                                                        \
  X(key_type, KeyType, int, (Key*))                                                                            \
  X(get_type, ModuleTypeGetType, Type*, (Key*))                                                                \
  X(get_value, ModuleTypeGetValue, void*, (Key*))                                                              \
  X(set_value, ModuleTypeSetValue, int, (Key*, Type*, void* value))                                            \
  X(reply_with_integer, ReplyWithLongLong, int, (Context*, long long))                                         \
  X(reply_with_bool, ReplyWithBool, int, (Context*, int))                                                      \
  X(reply_with_double, ReplyWithDouble, int, (Context*, double))                                               \
  X(reply_with_null, ReplyWithNull, int, (Context*))                                                           \
  X(reply_with_error, ReplyWithError, int, (Context*, const char*))                                            \
  X(reply_with_simple_string, ReplyWithSimpleString, int, (Context*, const char*))                             \
  X(reply_with_bytes, ReplyWithStringBuffer, int, (Context*, const char*, std::size_t))                        \
  X(reply_with_array, ReplyWithArray, int, (Context*, long length))                                            \
  X(reply_with_map, ReplyWithMap, int, (Context*, long length))                                                \
  X(replicate, Replicate, int, (Context*, const char* command, const char* format, ...))                       \
  X(save_unsigned, SaveUnsigned, void, (Io*, std::uint64_t))                                                   \
  X(load_unsigned, LoadUnsigned, std::uint64_t, (Io*))                                                         \
  X(save_bytes, SaveStringBuffer, void, (Io*, const char*, std::size_t))                                       \
  X(load_bytes, LoadStringBuffer, char*, (Io*, std::size_t* length))                                           \
  X(allocate, Alloc, void*, (std::size_t))                                                                     \
  X(free_bytes, Free, void, (void*))                                                                           \
  X(is_io_error, IsIOError, int, (Io*))                                                                        \
  X(context_of, GetContextFromIO, Context*, (Io*))                                                             \
  X(get_server_info, GetServerInfo, ServerInfo*, (Context*, const char* section))                              \
  X(free_server_info, FreeServerInfo, void, (Context*, ServerInfo*))                                           \
  X(server_number, ServerInfoGetFieldUnsigned, unsigned long long, (ServerInfo*, const char* field, int*)) \
  X(server_text, ServerInfoGetFieldC, const char*, (ServerInfo*, const char* field))                           \
  X(emit_aof, EmitAOF, void, (Io*, const char* command, const char* format, ...))                              \
  X(digest_add_bytes, DigestAddStringBuffer, void, (Digest*, const char*, std::size_t))                        \
  X(digest_end_sequence, DigestEndSequence, void, (Digest*))

/// Functions that a server may not have; they are then nullptr. try_allocate is allocate that returns nullptr if there is
/// no memory. Redis has those of access categories from 7.2 and 7.4 on.
#define TALLY_REDIS_OPTIONAL_FUNCTIONS(X)                                                                      \
  X(try_allocate, TryAlloc, void*, (std::size_t))                                                              \
  X(set_command_categories, SetCommandACLCategories, int, (RegisteredCommand*, const char* categories))        \
  X(add_category, AddACLCategory, int, (Context*, const char* category))
// clang-format on

#define TALLY_REDIS_DECLARE(name, redis_name, result, arguments) inline result(*name) arguments = nullptr;
TALLY_REDIS_FUNCTIONS(TALLY_REDIS_DECLARE)
TALLY_REDIS_OPTIONAL_FUNCTIONS(TALLY_REDIS_DECLARE)
#undef TALLY_REDIS_DECLARE

/// Looks up every function. Returns the name of the first one that the server must have and does not, or nullptr.
const char* resolve(Context* context) noexcept;

}  // namespace tally::redis::api
